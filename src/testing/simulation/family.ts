import type { SimKind } from './sim-kind.js'
import type { Scene, Verdict } from './verdict.js'
import type { Watch } from './watch.js'

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
  readonly kinds: readonly SimKind[]
  /** Each a point where faults are counted. */
  readonly scripts: readonly string[]
  /** Redissons may be there, too. */
  readonly strangers: boolean
  /** Who waits is told of releases. */
  readonly told: boolean
  /** Who plays it and judges it, where it is no lock. */
  watch?(scene: Scene, verdict: Verdict): Watch
}
