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
  /** Of a rate limiter: the length of its window, ms. */
  readonly interval?: number | undefined
  /** The newest holds that have ended, the oldest first: at most `MOST_PAST`. */
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

/** A slot that is due or was. All texts come from other processes. */
export interface ShownSlot {
  /** When it is due, ms since the epoch. */
  readonly due: number
  /** `missed`: a process has marked it, so that none runs it any more. `unclaimed`: no process has claimed it. `due`: nor has one yet. */
  readonly state: 'due' | 'unclaimed' | 'running' | 'ran' | 'failed' | 'crashed' | 'missed'
  /** The client that runs or ran it: its label, or the first part of its id. */
  readonly who?: string | undefined
  readonly began?: number | undefined
  /** ms */
  readonly took?: number | undefined
  readonly attempt?: number | undefined
}

/** A schedule in the options of the dashboard. */
export interface ShownSchedule {
  readonly name: string
  readonly cron: string
  readonly timezone: string
  readonly next: number | null
  /** The newest first. */
  readonly slots: readonly ShownSlot[]
  /** Why they cannot be read. */
  readonly trouble?: string | undefined
}

/** What stands beside the locks. */
export interface Around {
  /** When the server was read, by its clock, ms since the epoch; 0: never yet. */
  readonly at: number
  /** The server's time when this was sent. */
  readonly now: number
  /** Stands for the reading: a page that knows it needs no snapshot. */
  readonly reading: string
  /** ms from the beginning of one reading to the next. */
  readonly every: number
  readonly where: string
  /** The server's name and version, if it says so. */
  readonly server?: string | undefined
  readonly schedules: readonly ShownSchedule[]
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

/** A lock that the page knows: only the fields that differ. */
export interface ChangedLock extends Partial<Omit<ShownLock, 'past' | 'waiting'>> {
  readonly id: string
  /** An `id` stands for who waited already, as before. */
  readonly waiting?: readonly (Person | string)[]
  /** Fields that it has no more. */
  readonly unset?: readonly (keyof ShownLock)[]
  /** Holds that have ended since, for the end of `past`. Of who was shown as a holder, only the `id`, and `until`. */
  readonly ended?: readonly (Past | readonly [id: string, until: number])[]
}

/** What has changed since a reading. */
export interface Difference extends Around {
  /** That reading. A page that knows another one cannot use the difference. */
  readonly after: string
  readonly set: readonly ShownLock[]
  readonly changed: readonly ChangedLock[]
  readonly gone: readonly string[]
}

/** The page knows everything else already. */
export type Unchanged = Around & Pick<Difference, 'after'> & Pick<Snapshot, 'may'>

/** Anything that a page hears: all locks, or what differs. */
export type Message = Around &
  Partial<Pick<Snapshot, 'may' | 'locks'> & Pick<Difference, 'after' | 'set' | 'changed' | 'gone'>>

/** ms. How much of the past is shown, and how long a lock that is free stays on the page. */
export const WINDOW = 60_000

/** How many characters of a name or a label are shown. Behind a longer one, there is an ellipsis. */
export const LONGEST = 300

/** How many ended holds of one lock are shown. */
export const MOST_PAST = 30
