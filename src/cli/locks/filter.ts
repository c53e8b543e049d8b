import { globMatches } from '../../base/glob.js'
import type { ListedHolder, ListedLock, ListedWaiter } from '../../api/listing.js'
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

/** What the chosen clients do with the lock; empty: nothing. */
export const doingOf = ({ holders, waiting }: ListedLock, chosen: Chosen): string =>
  [...(holders.some(chosen) ? ['holds'] : []), ...(waiting.some(chosen) ? ['waits'] : [])].join(' and ')
