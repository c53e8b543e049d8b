import type { Client } from '../api/client.js'
import type { ListedHolder, ListedLock } from '../api/listing.js'
import { heldBy, lockOf } from '../cli/locks/listed-kinds.js'
import { holdIn, locksAt } from '../cli/locks/find.js'
import { textOf } from '../thrown.js'
import { askFor } from './ask-to-release.js'
import { json, notAllowed, refusal } from './responses.js'
import { fromOwnPage } from './same-origin.js'
import type { Reader } from './reader.js'
import type { Alias } from './lock-for-page.js'

/** Somebody acted on what an owner held. */
export interface DashboardAction {
  /** `release`: it was released by force. `extend`: its lease was made longer. `ask`: its client was asked to release it. */
  readonly type: 'release' | 'extend' | 'ask'
  /** The name of the lock. */
  readonly name: string
  /** Its kind. */
  readonly kind: ListedLock['kind']
  /** The id of the client that held it. */
  readonly client: string
  /** The label of that client. */
  readonly label?: string | undefined
  /** Whether it was done. `false`: the owner had lost or released it in the meantime, or nobody listens to `ask`. `undefined`: not known, because the server has not answered, or with an error. */
  readonly done: boolean | undefined
  /** `extend`: to how many ms from now. */
  readonly lease?: number | undefined
  /** The request, so that you can say who it was. */
  readonly request: Request
}

export interface Acting {
  readonly client: Client
  readonly alias: Alias
  readonly reader: Reader
  readonly tell: (action: DashboardAction) => void
  /** What the request may do now. Its body has been read. */
  readonly leave: (body: string) => Promise<false | 'read' | 'act'>
}

/** The ids that the page knows of a lock and of one of its holders, and what else it has said. */
interface Asked {
  readonly lock: string
  readonly owner: string
  readonly lease?: unknown
}

/** What is to be done with what this owner holds. */
interface Deed {
  readonly lock: ListedLock
  readonly holders: readonly ListedHolder[]
  readonly owner: string
  /** The id of its client. */
  readonly of: string
}

interface Act extends Pick<DashboardAction, 'type' | 'lease'> {
  /** What a refusal says. */
  readonly nothing: string
  /** Why it was not done, if `do` resolves to false. */
  readonly refused?: string
  do(client: Client, deed: Deed): Promise<boolean>
}

/** Of a keyed lock, all keys that the owner holds. */
const lockOfDeed = (client: Client, { lock, holders }: Deed) => lockOf(client, lock, heldBy(holders))

/** The server compares the owner and releases in one step. */
const RELEASE: Act = {
  type: 'release',
  nothing: 'Nothing was released.',
  do: (client, deed) => lockOfDeed(client, deed).forceRelease({ owner: deed.owner }),
}

const ASK: Act = {
  type: 'ask',
  nothing: 'Nobody was asked.',
  refused: 'Its program does not listen for requests, so nobody was asked.',
  do: (client, { lock, of }) => askFor(client, of, lock),
}

/** ms: a day. Nobody wants to wait longer for a lock whose holder has died. */
const LONGEST_LEASE = 86_400_000

/** Undefined: not a lease that the page offers. */
const extension = ({ lease }: Asked): Act | undefined => {
  if (!Number.isSafeInteger(lease) || Number(lease) < 1 || Number(lease) > LONGEST_LEASE) return undefined
  const ms = Number(lease)
  return {
    type: 'extend',
    lease: ms,
    nothing: 'Nothing was extended.',
    do: (client, deed) => lockOfDeed(client, deed).forceExtend({ owner: deed.owner, lease: ms }),
  }
}

/** By the last part of the path. */
export const ACTS = {
  release: () => RELEASE,
  extend: extension,
  ask: () => ASK,
} satisfies Readonly<Record<string, (asked: Asked) => Act | undefined>>

/** Anybody may have written it. */
const askedIn = (text: string): Asked | undefined => {
  try {
    const { lock, owner, lease } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return typeof lock === 'string' && typeof owner === 'string' ? { lock, owner, lease } : undefined
  } catch {
    return undefined
  }
}

const isJson = (request: Request): boolean =>
  /^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')

/** Bytes. */
const LONGEST_BODY = 4096

/** The body as text; undefined: it is too long. At most one chunk beyond the limit is read. */
const bodyOf = async (request: Request): Promise<string | undefined> => {
  if (Number(request.headers.get('content-length') ?? 0) > LONGEST_BODY) return undefined
  const chunks: Uint8Array[] = []
  let length = 0
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = request.body?.getReader()
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    length += next.value.byteLength
    if (length > LONGEST_BODY) {
      await reader?.cancel()
      return undefined
    }
    chunks.push(next.value)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** `POST release` and the others: they act on what one owner holds, if it still holds it. */
export const act = async (leaf: keyof typeof ACTS, request: Request, acting: Acting): Promise<Response> => {
  if (!fromOwnPage(request)) return refusal(403, 'This request does not come from the page of this dashboard.')
  if (!isJson(request)) return refusal(415, 'The body must be JSON.')
  const body = await bodyOf(request)
  if (body === undefined) return refusal(413, 'The body is too long.')
  // A body may take any time to come.
  const leave = await acting.leave(body)
  if (leave !== 'act') return notAllowed(leave)
  const asked = askedIn(body)
  const wanted = asked && ACTS[leaf](asked)
  if (asked === undefined || wanted === undefined)
    return refusal(400, `The body must be {"lock":…,"owner":…${leaf === 'extend' ? ',"lease":…' : ''}}.`)
  try {
    return await actFor(wanted, asked, { ...acting, request })
  } catch (error) {
    return refusal(503, `It could not be done: ${textOf(error)}`)
  }
}

const stale = ({ nothing }: Act): Response => refusal(409, `That owner does not hold the lock any more. ${nothing}`)

const undone = (wanted: Act): Response => (wanted.refused === undefined ? stale(wanted) : refusal(409, wanted.refused))

const actFor = async (
  wanted: Act,
  asked: Asked,
  { client, alias, reader, tell, request }: Acting & Pick<DashboardAction, 'request'>,
): Promise<Response> => {
  const known = reader.find(asked.lock)
  if (known === undefined) return refusal(409, `The dashboard does not see this lock at the moment. ${wanted.nothing}`)
  // An owner may hold several locks of one name: those of other kinds have other keys.
  const found = (await locksAt(client, known.name, undefined)).filter(({ key }) => key === known.key)
  const owner = found.flatMap(({ holders }) => holders).find((one) => alias(one.owner) === asked.owner)?.owner
  if (owner === undefined) return stale(wanted)
  const [lock, holders] = holdIn(found, owner)
  const [holder] = holders
  if (lock === undefined || holder === undefined) return stale(wanted)
  const { client: theirs, label } = holder
  const { type, lease } = wanted
  const action = { type, name: lock.name, kind: lock.kind, client: theirs, label, lease, request }
  try {
    const done = await wanted.do(client, { lock, holders, owner, of: theirs })
    tell({ ...action, done })
    return done ? json({ done }) : undone(wanted)
  } catch (error) {
    tell({ ...action, done: undefined })
    return refusal(503, `Perhaps it was not done: ${textOf(error)}`)
  }
}
