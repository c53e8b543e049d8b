import type { SimKind } from './sim-kind.js'
import type { Scene, Verdict } from './verdict.js'
import type { Watch } from './watch.js'
import type { Program } from './worker-program.js'
import type { Random } from '../random.js'

/** Kinds on the same keys meet one another in one history. */
export interface Family {
  readonly name:
    | 'plain'
    | 'fair'
    | 'mixed'
    | 'fenced'
    | 'spin'
    | 'classic'
    | 'read-write'
    | 'fair-read-write'
    | 'semaphores'
    | 'keyed'
    | 'counted'
    | 'latches'
    | 'limiters'
    | 'flights'
    | 'deadlocks'
    | 'elections'
    | 'slots'
  readonly kinds: readonly SimKind[]
  /** Each a point where faults are counted. */
  readonly scripts: readonly string[]
  /** Redissons may be there, too. */
  readonly strangers: boolean
  /** Who waits is told of releases. */
  readonly told: boolean
  /** World time from which nothing goes wrong any more. Default: when everybody is done. */
  readonly calmFrom?: number
  /** In so many rounds of all families it is chosen once. Default: in each. */
  readonly every?: number
  /** What its processes do. Default: what all locks have in common. */
  program?(random: Random, kinds: readonly string[]): Program
  /** Who plays it and judges it, where it is no lock. */
  watch?(scene: Scene, verdict: Verdict): Watch
}
