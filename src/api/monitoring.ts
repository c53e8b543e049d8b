import type { Deadlock } from './deadlock.js'

/** How a client is doing. */
export interface Health {
  /** `connecting`: it has never reached its server yet. `away`: the connection is lost, or the server does not answer. */
  readonly state: 'up' | 'connecting' | 'away'
  /** Since when it is in this state, ms since the epoch. */
  readonly since: number
  /** How long the server took to answer just now, ms; `undefined` if it did not answer. */
  readonly latency?: number | undefined
  /** How many calls wait. */
  readonly waiting: number
  /** How many locks and permits are held. */
  readonly held: number
  /**
   * How many of those are uncertain, because a renewal failed or is overdue; plus the number of leaders whose work goes on although their term was lost.
   */
  readonly overdue: number
  /** How many elections this client leads. A term counts until its work has settled. */
  readonly leading: number
}

/** Where a client writes its log messages, and errors that have no listener. */
export interface Logger {
  /** Details that help to follow what happens. */
  debug(message: string, details?: unknown): void
  /** What happens as it should. */
  info(message: string, details?: unknown): void
  /** What you should look at. */
  warn(message: string, details?: unknown): void
  /** What went wrong. */
  error(message: string, details?: unknown): void
}

/** The events of a client. An `error` without a listener goes to the logger; it is never thrown. */
export interface ClientEvents {
  /** Something went wrong in the background. */
  error: [error: Error]
  /** A hold may be lost: a renewal failed or is overdue. `owner` is as secret as that of a `HolderState`. */
  uncertain: [hold: { readonly name: string; readonly owner: string; readonly cause: unknown }]
  /** A hold was lost. `owner` is as secret as that of a `HolderState`. */
  lost: [hold: { readonly name: string; readonly owner: string; readonly error: Error }]
  /** The connection came back. */
  reconnect: []
  /** A call of this client, and calls in this or other processes, wait for one another, and none of them can go on. Emitted once for each cycle. */
  deadlock: [deadlock: Deadlock]
}

/** Listens to one event, or to any of several. For an event without details, the argument is `undefined`. */
export type ClientListener<E extends keyof ClientEvents> = (
  ...args: ClientEvents[E] extends infer A extends unknown[] ? (A extends [] ? [nothing: undefined] : A) : never
) => void
