/** What a process of many clients and whoever starts it agree on. */

/** `bare`: connections of ioredis, which do nothing. */
export type Who = 'holdfast' | 'bare'

/** `own`: each client holds a lock of its own, and acquires it again if it is lost. `share`: all take turns on a few locks. */
export type ClientsMessage = 'connect' | 'own' | 'share' | 'memory' | 'cpu' | 'forget' | 'back'

/** The locks that all share, and how long each hold of them takes, ms. */
export const LOCKS = 10
export const HOLD = 50

/** Since the last `forget`. */
export interface Back {
  /** How many clients have been connected again. */
  readonly connected: number
  /** Which locks were granted here: of those that are shared, their numbers. */
  readonly granted: readonly number[]
}
