import { globMatches } from '../../base/glob.js'
import type { ListedHolder, ListedLock, ListedWaiter } from '../../api/listing.js'
import { plainText } from '../../plain-text.js'
import { UsageError } from '../usage-error.js'

/** The options that select clients. */
export const CLIENTS = {
  client: {
    type: 'string',
    value: 'CLIENT',
    help: 'only what this client holds or waits for: its id, or the first 8 or more characters of it',
  },
  label: {
    type: 'string',
    value: 'LABEL',
    help: 'only what clients with this label hold or wait for; it may be a pattern, such as web-*',
  },
} as const

/** Whether this holder or waiter was asked for. */
export type Chosen = (one: ListedHolder | ListedWaiter) => boolean

interface Values {
  readonly client?: string | undefined
  readonly label?: string | undefined
}

/** Shorter ones are those of too many clients. */
const SHORTEST = 8
/** An id, or its beginning. */
const ID = /^[\da-f-]{8,36}$/

/** Undefined: no client was asked for. */
export const chosenOf = ({ client, label }: Values): Chosen | undefined => {
  if (client === undefined && label === undefined) return undefined
  if (client !== undefined && !ID.test(client))
    throw new UsageError(`--client must be the id of a client, or its first ${SHORTEST} or more characters`)
  if (label === '') throw new UsageError('--label must not be empty')
  return (one) =>
    (client === undefined || one.client.startsWith(client)) &&
    (label === undefined || (one.label !== undefined && (one.label === label || globMatches(label, one.label))))
}

type Person = ListedHolder | ListedWaiter

/** How many of several clients are named. */
const NAMED = 3

const nameOf = ({ label, client }: Person): string => plainText(label ?? client.slice(0, SHORTEST))

const named = (does: string, people: readonly Person[]): string => {
  const names = [...new Map(people.map((one) => [one.client, nameOf(one)])).values()]
  const more = names.length > NAMED ? [`${names.length - NAMED} more`] : []
  return `${does} (${[...names.slice(0, NAMED), ...more].join(', ')})`
}

/** What the chosen clients do with the lock; empty: nothing. If one holds it and another one waits, which is which. */
export const doingOf = ({ holders, waiting }: ListedLock, chosen: Chosen): string => {
  const [holding, inLine] = [holders.filter(chosen), waiting.filter(chosen)]
  if (holding.length === 0) return inLine.length === 0 ? '' : 'waits'
  if (inLine.length === 0) return 'holds'
  const clients = new Set([...holding, ...inLine].map(({ client }) => client))
  return clients.size === 1 ? 'holds and waits' : `${named('holds', holding)}, ${named('waits', inLine)}`
}
