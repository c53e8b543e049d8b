import type { RedisServer } from '../../test/support/redis-server.js'
import type { Headline } from './headline.js'
import type { About, Column, Row, Target } from '../base/result.js'
import type { ServerMeter } from './server-meter.js'

export interface MeasuredServer {
  readonly redis: RedisServer
  readonly meter: ServerMeter
  /** Of a server at a distance: how often a caller has sent something after everything before it was answered, on all connections. */
  readonly turns?: () => Promise<number>
}

/** What a run gives to its scenarios. */
export interface Bench {
  readonly quick: boolean
  readonly rounds: number
  /** Of a scenario with many rows: those whose name begins so. */
  readonly only?: string | undefined
  /** Undefined: there is no Redis on this machine. */
  readonly server: MeasuredServer | undefined
  log(text: string): void
}

/** A file in scenarios/ and a line in scenarios.ts. */
export interface Scenario {
  readonly id: string
  readonly title: string
  readonly about: About
  /** Undefined: it has no single figure. */
  readonly headline?: Headline
  readonly needsServer: boolean
  /** Where it does not go by those of the run. */
  readonly rounds?: number
  run(bench: Bench): Promise<Measured>
}

export interface Measured {
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  readonly targets: readonly Target[]
}
