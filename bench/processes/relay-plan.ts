/** What a relay process and whoever starts it agree on. */

export const KEY = 'bench:relay'

/** µs of the machine's clock. */
export interface Turns {
  readonly had: number[]
  readonly freed: number[]
}

export interface Relay {
  /** One wakes itself; each of more is woken by the one before it, and all hear of each turn. */
  readonly processes: 1 | 2 | 4
  readonly holdMs: number
  /** A lock by our scripts: release, message, acquire. Or the message alone. */
  readonly by: 'scripts' | 'message'
  /** Turns of each that do not count. */
  readonly first?: number
}
