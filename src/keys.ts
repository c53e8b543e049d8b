import { quoted } from './plain-text.js'

/** Every key and channel name, as Redisson builds them: a name with a brace anywhere counts as tagged already. No other code writes hash tags. */
const tagged = (name: string): string => (name.includes('{') ? name : `{${name}}`)

/**
 * The same for keys that only holdfast uses. By Redisson's rule, the two objects `x` and `{x}` would share their companions' names. Here they have different
 * ones, in the same slot.
 */
const own = (name: string): string => (name.includes('{') ? `${name}!` : `{${name}}`)

export const lockChannel = (name: string): string => `redisson_lock__channel:${tagged(name)}`

/** The newest token of a fenced lock. */
export const fencingCounter = (name: string): string => `redisson_lock_token:${tagged(name)}`

/** The line of a plain or a fenced lock: its waiters in order, their deadlines, whose turn it is, and the channel of grants. */
export const lineQueue = (name: string): string => `holdfast_line:${own(name)}`
export const lineDeadlines = (name: string): string => `holdfast_line_due:${own(name)}`
export const lineTurn = (name: string): string => `holdfast_line_turn:${own(name)}`
export const lineGrants = (name: string): string => `holdfast_line_grant:${own(name)}`

/** For an election: who leads, beside the fenced lock of its name, and the channel that reports changes. */
export const leaderKey = (name: string): string => `holdfast_leader:${own(name)}`
export const leaderChannel = (name: string): string => `holdfast_leader_change:${own(name)}`

/** The line of a group of keys: its waiters in order, their deadlines, what each wants, whose turn it is, and the channel of grants. */
export const keyedQueue = (group: string): string => `holdfast_keyed_line:${own(group)}`
export const keyedDeadlines = (group: string): string => `holdfast_keyed_due:${own(group)}`
export const keyedSets = (group: string): string => `holdfast_keyed_sets:${own(group)}`
export const keyedTurn = (group: string): string => `holdfast_keyed_turn:${own(group)}`
export const keyedGrants = (group: string): string => `holdfast_keyed_grant:${own(group)}`

/** The waiters of a fair lock in order, and until when each counts as alive. */
export const fairQueue = (name: string): string => `redisson_lock_queue:${tagged(name)}`
export const fairDeadlines = (name: string): string => `redisson_lock_timeout:${tagged(name)}`

/** The channel on which Redisson wakes up the next waiter of a fair lock. */
export const fairCall = (name: string, owner: string): string => `${lockChannel(name)}:${owner}`

/** The channel on which holdfast's clients learn that one of their waiters was granted a lock; the client's id follows. */
export const grantChannel = (name: string): string => `holdfast_grant:${own(name)}`

export const semaphoreChannel = (name: string): string => `redisson_sc:${tagged(name)}`

/** When each permit in use expires. For this companion, Redisson puts the suffix after the name. */
export const permitTimeouts = (name: string): string => `${tagged(name)}:timeout`

/** For a rate limiter: how many permits are left in the window, and the grants in it. With a client's id: only that client's. */
export const limiterValue = (name: string, clientId = ''): string => companion(name, 'value', clientId)
export const limiterPermits = (name: string, clientId = ''): string => companion(name, 'permits', clientId)

/** For a slot: its record, and the lock that is held while it runs. For all slots of a name: the newest token, and the newest slot. */
export const slotRecord = (name: string, slot: string): string => `${own(name)}:slot:${slot}`
export const slotLock = (name: string, slot: string): string => `${own(name)}:slot-lock:${slot}`
export const slotsToken = (name: string): string => `${own(name)}:slots:token`
export const slotsLast = (name: string): string => `${own(name)}:slots:last`

/**
 * For each key of a flight: how its newest computation ended, the lock that is held while it runs, and the channel that announces its end. For all keys: the
 * newest token.
 */
export const flightRecord = (name: string, key: string): string => `${own(name)}:flight:${key}`
export const flightLock = (name: string, key: string): string => `${own(name)}:flight-lock:${key}`
export const flightChannel = (name: string, key: string): string => `holdfast_flight:${own(name)}:${key}`
export const flightsToken = (name: string): string => `${own(name)}:flights:token`

const companion = (name: string, what: string, clientId: string): string =>
  `${tagged(name)}:${what}${clientId === '' ? '' : `:${clientId}`}`

/** The channel on which holdfast's clients learn that permits of a limiter came back, or its rate changed. Redisson publishes neither. */
export const limiterChannel = (name: string): string => `holdfast_limiter:${own(name)}`

/**
 * The line of a rate limiter: its waiters in order; how many permits each wants, and when it asks next; and the channel on which a waiter is woken up to ask.
 */
export const limiterOrder = (name: string): string => `holdfast_limiter_line:${own(name)}`
export const limiterPlaces = (name: string): string => `holdfast_limiter_places:${own(name)}`
export const limiterGrants = (name: string): string => `holdfast_limiter_grant:${own(name)}`

/** Braces are added even to a name that has some. In a cluster, such a latch has keys in two slots, here and in Redisson. */
export const latchChannel = (name: string): string => `redisson_countdownlatch__channel__{${name}}`

/**
 * The line for permits: its waiters in order, until when each counts as alive, how many permits each wants or was granted, whose turn it is, and the channel of
 * grants.
 */
export const permitsQueue = (name: string): string => `holdfast_permits_line:${own(name)}`
export const permitsDeadlines = (name: string): string => `holdfast_permits_due:${own(name)}`
export const permitsAmounts = (name: string): string => `holdfast_permits_wanted:${own(name)}`
export const permitsTurn = (name: string): string => `holdfast_permits_turn:${own(name)}`
export const permitsGrants = (name: string): string => `holdfast_permits_grant:${own(name)}`

/** The same for permits that have ids. */
export const expirableQueue = (name: string): string => `holdfast_expirable_line:${own(name)}`
export const expirableDeadlines = (name: string): string => `holdfast_expirable_due:${own(name)}`
export const expirableAmounts = (name: string): string => `holdfast_expirable_wanted:${own(name)}`
export const expirableTurn = (name: string): string => `holdfast_expirable_turn:${own(name)}`
export const expirableGrants = (name: string): string => `holdfast_expirable_grant:${own(name)}`

/** The result of a request, for as long as the request may be repeated. */
export const noteKey = (name: string, clientId: string, number: number): string =>
  `holdfast_request:${own(name)}:${clientId}:${number}`

/** The lock itself, and the keys of each read: one for each level, `<levels>:1` and on. */
export const readWriteChannel = (name: string): string => `redisson_rwlock:${tagged(name)}`
export const readCompanion = (name: string): string => tagged(name)
export const readLevels = (name: string, owner: string): string => `${tagged(name)}:${owner}:rwlock_timeout`

/** Whose turn it is: that of holdfast's clients, or of outsiders. */
export const readWriteTurn = (name: string): string => `holdfast_rwlock_turn:${own(name)}`

/** The waiters of a read-write lock in order, until when each counts as alive, and the channel of grants. */
export const readWriteQueue = (name: string): string => `holdfast_rwlock_queue:${own(name)}`
export const readWriteDeadlines = (name: string): string => `holdfast_rwlock_timeout:${own(name)}`
export const readWriteGrants = (name: string): string => `holdfast_rwlock_grant:${own(name)}`

/** For each client, the label that people see. All keys about clients begin alike, so one ACL rule covers them. */
export const presenceKey = (clientId: string): string => `holdfast:client:${clientId}`

/** Which clients are connected, and until when each counts. No client has this id. */
export const registerKey = (): string => presenceKey('register')

/** What a client has held or waited for longer than a second. */
export const indexKey = (clientId: string): string => `${presenceKey(clientId)}:locks`

/** Its calls that wait while something is held until they end. */
export const waitsKey = (clientId: string): string => `${presenceKey(clientId)}:waits`

/** Which client ends a deadlock. */
export const deadlockKey = (deadlock: string): string => presenceKey(`deadlock:${deadlock}`)

/** Who released the lock with this key by force a moment ago. */
export const forcedKey = (key: string): string => presenceKey(`forced:${key}`)

/** The secret part of a wire owner has nine digits. With a running number after it, it stays below 2^63, like Java's ids. */
const LEAST = 100_000_000
const SECRETS = 800_000_000
const SECRET_DIGITS = 9

/** Made from 32 random bits. */
export const secretOf = (bits: number): number => LEAST + (bits % SECRETS)

/**
 * The wire name of a unit of work. In place of Redisson's thread id, it has digits that other programs cannot guess, directly followed by a number that is
 * never used again.
 */
export const wireOwner = (clientId: string, secret: number, number: number): string => `${clientId}:${secret}${number}`

const WIRE_OWNER = /^[\da-f]{8}-[\da-f]{4}-[48][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}:[1-8]\d{8}[1-9]\d{0,14}$/

/** Whether a client of holdfast, of any version, names its owners like this. The mark of the kind may follow. */
export const isWireOwner = (text: string, mark = ''): boolean =>
  text.endsWith(mark) && WIRE_OWNER.test(text.slice(0, text.length - mark.length))

const CLIENT = /^[\da-f]{8}-[\da-f]{4}-[48][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** Whether a client of holdfast, of any version, could have this id. */
export const isClientId = (text: string): boolean => CLIENT.test(text)

/** The client that an owner's wire name belongs to. */
export const clientOf = (owner: string): string => owner.slice(0, 36)

/** An owner of this client without a number of its own, where nobody knows more. */
export const numberless = (client: string): string => `${client}:${'0'.repeat(SECRET_DIGITS + 1)}`

/** The running number, by which messages refer to the owner. A kind's mark may follow it. */
export const numberOf = (owner: string): number => Number.parseInt(owner.slice(37 + SECRET_DIGITS), 10)

const SLOTS = 16384

/** The cluster slot of a key: CRC16 (XMODEM) of its hash tag, if it has one. */
export const slotOf = (key: string): number => {
  const open = key.indexOf('{')
  const close = open === -1 ? -1 : key.indexOf('}', open + 1)
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key
  let crc = 0
  for (const byte of new TextEncoder().encode(hashed)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  }
  return (crc & 0xffff) % SLOTS
}

/** Redisson puts a name in braces to form the keys and channels beside it. If the name contains braces itself, some of them may belong to another slot. */
export const mustShareSlot = ({ key, channel }: { readonly key: string; readonly channel: string }): void => {
  if (slotOf(key) === slotOf(channel)) return
  throw new RangeError(
    `the name ${quoted(key)} cannot be used for this object in a cluster: its ${quoted(channel)} hashes to another slot because of the braces in the name`,
  )
}
