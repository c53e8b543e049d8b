import type { Client } from '../api/client.js'
import type { ListedHolder, ListedLock } from '../api/listing.js'
import { heldBy, lockOf } from '../cli/locks/listed-kinds.js'
import { locksAt } from '../cli/locks/find.js'
import { textOf } from '../thrown.js'
import { json, refusal } from './answers.js'
import { bodyOf, fromOwnPage } from './guard.js'
import type { Reader } from './reader.js'
import { type Alias, idOf } from './shown.js'

/** Somebody released by force what an owner held. */
export interface DashboardAction {
  /** What was done. */
  readonly type: 'release'
  /** The name of the lock. */
  readonly name: string
  /** Its kind. */
  readonly kind: ListedLock['kind']
  /** The id of the client that held it. */
  readonly client: string
  /** The label of that client. */
  readonly label?: string | undefined
  /** Whether it was released. `false`: the owner had lost or released it in the meantime. `undefined`: not known, because the server has not answered, or with an error. */
  readonly released: boolean | undefined
  /** The request, so that you can say who it was. */
  readonly request: Request
}

export interface Acting {
  readonly client: Client
  readonly alias: Alias
  readonly reader: Reader
  readonly tell: (action: DashboardAction) => void
}

/** The ids that the page knows of a lock and of one of its holders. */
interface Asked {
  readonly lock: string
  readonly owner: string
}

/** Anybody may have written it. */
const askedIn = (text: string): Asked | undefined => {
  try {
    const { lock, owner } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return typeof lock === 'string' && typeof owner === 'string' ? { lock, owner } : undefined
  } catch {
    return undefined
  }
}

const isJson = (request: Request): boolean =>
  /^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')

/** `POST release`: releases what one owner holds, if it still holds it. */
export const release = async (request: Request, acting: Acting): Promise<Response> => {
  if (!fromOwnPage(request)) return refusal(403, 'This request does not come from the page of this dashboard.')
  if (!isJson(request)) return refusal(415, 'The body must be JSON.')
  const body = await bodyOf(request)
  if (body === undefined) return refusal(413, 'The body is too long.')
  const asked = askedIn(body)
  if (asked === undefined) return refusal(400, 'The body must be {"lock":…,"owner":…}.')
  try {
    return await releaseFor(asked, request, acting)
  } catch (error) {
    return refusal(503, `It could not be released: ${textOf(error)}`)
  }
}

const releaseFor = async ({ lock: id, owner }: Asked, request: Request, acting: Acting): Promise<Response> => {
  const { client, alias, reader, tell } = acting
  const known = reader.find(id)
  if (known === undefined)
    return refusal(409, 'The dashboard does not see this lock at the moment. Nothing was released.')
  const is = (one: ListedHolder): boolean => alias(one.owner) === owner
  const held = (await locksAt(client, known.name, undefined)).filter(({ holders }) => holders.some(is))
  const found = held.find((one) => idOf(one, alias) === id) ?? held[0]
  const holder = found?.holders.find(is)
  if (found === undefined || holder === undefined) return stale()
  const { client: theirs, label } = holder
  const action = { type: 'release' as const, name: found.name, kind: found.kind, client: theirs, label, request }
  try {
    const released = await releaseOf(client, found, holder)
    tell({ ...action, released })
    return released ? json({ released: true }) : stale()
  } catch (error) {
    tell({ ...action, released: undefined })
    return refusal(503, `Perhaps it was not released: ${textOf(error)}`)
  }
}

/** The server compares the owner and releases in one step. Of a keyed lock, all keys that the owner holds. */
const releaseOf = (client: Client, lock: ListedLock, holder: ListedHolder): Promise<boolean> => {
  const held = heldBy(lock.holders.filter(({ owner }) => owner === holder.owner))
  return lockOf(client, lock, held).forceRelease({ owner: holder.owner })
}

const stale = (): Response => refusal(409, 'That owner does not hold the lock any more. Nothing was released.')
