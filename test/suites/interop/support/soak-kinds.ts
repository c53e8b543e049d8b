import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Lock } from 'holdfast'
import type { Kind } from './java-lock.js'

/** The lock that all work on. */
export const NAME = 'soak'
/** Of the watchdogs, and the fixed one, ms. */
export const LEASE = 1500
/** How many workers each process has. */
export const WORKERS = 3
/** How long one of ours that was granted its turn in a line may stand still, ms. */
const TRIAL = 3000

/** What processes of both sides share while they are killed and stopped. */
export interface SoakKind {
  readonly java: Kind
  /** What a worker of ours calls it. */
  readonly node: string
  /** Whether a part of the visits reads. */
  readonly modes: boolean
  /** For how long nobody may have it though somebody waits, ms. What dead waiters of Redisson's cost is not counted in. */
  readonly forgottenAfter: number
  /** What the dead left in a queue goes when somebody comes whose turn it would be. */
  sweep(client: Client): Promise<unknown>
}

const nothing = (): undefined => undefined
const PATIENT = { wait: 60_000 } as const

/** Whoever died in the line just now is passed over at first, and taken out when it has not stirred for as long as a trial. */
const passBy = async (lock: Lock): Promise<void> => {
  for (const pause of [0, TRIAL + 200]) {
    await sleep(pause)
    await lock.using(PATIENT, nothing)
  }
}

/** A hold that nobody knew of, an attempt that nobody heard the answer of, and a machine that is busy. */
const LEASES = 2 * LEASE + 3000
/** A process of ours that is stopped has a turn for each of its workers, if others' scripts are the first to see that it is over. */
const IN_LINE = WORKERS * TRIAL + LEASES

export const SOAKED = {
  fair: {
    java: 'fair',
    node: 'fair',
    modes: false,
    forgottenAfter: IN_LINE,
    sweep: (client) => passBy(client.fairLock(NAME)),
  },
  readWrite: {
    java: 'write',
    node: 'readWrite',
    modes: true,
    forgottenAfter: IN_LINE,
    sweep: (client) => passBy(client.readWriteLock(NAME).write),
  },
  /** Beside Redisson's ordinary one. */
  fairReadWrite: {
    java: 'write',
    node: 'fairReadWrite',
    modes: true,
    forgottenAfter: IN_LINE,
    sweep: (client) => passBy(client.readWriteLock(NAME, { fair: true }).write),
  },
} satisfies Record<string, SoakKind>

export type Soaked = keyof typeof SOAKED

export const isSoaked = (kind: string): kind is Soaked => Object.hasOwn(SOAKED, kind)
