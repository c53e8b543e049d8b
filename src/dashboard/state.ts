/** What the page knows. The server side makes it, and the page applies the differences: both import this file, so it uses nothing else. */

/** A holder or a waiter. Its owner never leaves the server side: anybody who knows an owner may adopt what it holds. */
export interface Person {
  /** Stands for the owner. It is the same as long as the dashboard's process lives. */
  readonly id: string
  /** Stands for the client in the same way. */
  readonly client: string
  /** The first part of the client's id, for people. */
  readonly short: string
  readonly label?: string | undefined
  /** Since when, ms since the epoch, server time: as its client says, or since the dashboard saw it first. */
  readonly since: number
  readonly mode?: 'read' | 'write' | undefined
  readonly count?: number | undefined
  readonly keys?: readonly string[] | undefined
  /** The locks that its call waits for meanwhile. */
  readonly wants?: readonly string[] | undefined
  /** `gone`: its client has stopped writing its label. `redisson`, `unknown`: nothing shows if it is alive. */
  readonly sign?: 'gone' | 'redisson' | 'unknown' | undefined
}

/** A hold that has ended. */
export interface Past extends Pick<Person, 'id' | 'client' | 'short' | 'label' | 'since'> {
  readonly until: number
}

/** A lock, as the page shows it. All texts come from other processes. */
export interface ShownLock {
  readonly id: string
  readonly name: string
  readonly kind: string
  /** `election`: its holder leads. `slot`: it is held while a slot of a schedule runs. */
  readonly role?: 'election' | 'slot' | undefined
  readonly holders: readonly Person[]
  /** How many holders there are: `holders` has only the first of them. */
  readonly holding: number
  readonly waiting: readonly Person[]
  readonly waiters: number
  /** The server does not say how many more there are. */
  readonly more?: true | undefined
  /** When the lease ends, server time; `null`: never. */
  readonly until?: number | null | undefined
  /** ms: the most of the lease that was seen during this hold. */
  readonly lease?: number | undefined
  /** The lease was seen to be renewed during this hold. */
  readonly renewed?: true | undefined
  /** It was renewed before, and when it was read, its renewal was late: a client renews when a third of its lease is over. */
  readonly late?: true | undefined
  readonly token?: string | undefined
  readonly available?: number | undefined
  readonly permits?: number | undefined
  /** The newest holds that have ended, the oldest first. */
  readonly past: readonly Past[]
  /** It is free since then, and no call waits for it. */
  readonly free?: number | undefined
}

/** One call of a deadlock. */
export interface CycleStep {
  /** The `id` of the lock that it holds. */
  readonly lock: string
  readonly holds: string
  readonly who: string
  readonly wants: string
}

/** The server cannot be read. */
export interface Trouble {
  readonly text: string
  readonly since: number
}

/** How many holds were seen to be handed over, or to end, and how many callers waited at most. */
export type Rate = readonly [handOvers: number, waiters: number]

/** What stands beside the locks. */
export interface Around {
  /** When the server was read, by its clock, ms since the epoch. */
  readonly at: number
  /** ms from the beginning of one reading to the next. */
  readonly every: number
  readonly where: string
  /** The server's name and version, if it says so. */
  readonly server?: string | undefined
  /** The last five minutes, in steps of five seconds; `null`: nobody looked. */
  readonly rates: readonly (Rate | null)[]
  readonly cycles: readonly (readonly CycleStep[])[]
  readonly trouble: Trouble | null
  /** Why some locks could not be read. Those that were shown before stay as they were. */
  readonly missing: string | null
  /** How many locks there are beyond those that are shown. */
  readonly hidden: number
}

export interface Snapshot extends Around {
  readonly may: 'read' | 'act'
  readonly locks: readonly ShownLock[]
}

/** What has changed since the message before. */
export interface Difference extends Around {
  readonly set: readonly ShownLock[]
  readonly gone: readonly string[]
}

/** ms. How much of the past is shown, and how long a lock that is free stays on the page. */
export const WINDOW = 60_000
