/** How a client is doing. */
export interface Health {
  /** `connecting`: it has never reached its server yet. `away`: the connection is gone, or nothing is answered. */
  readonly state: 'up' | 'connecting' | 'away'
  /** Since when that is so, ms since the epoch. */
  readonly since: number
  /** How long the server has taken just now to answer, ms; `undefined` when it has not. */
  readonly latency?: number | undefined
  /** Calls that wait. */
  readonly waiting: number
  /** Locks and permits that are held. */
  readonly held: number
  /** How many of them are uncertain: a renewal failed or is overdue; and how many leaders' work goes on although their term was lost. */
  readonly overdue: number
  /** Elections that this client leads, until the work of the term has settled. */
  readonly leading: number
}

/** Where a client writes what nobody listens to. */
export interface Logger {
  /** What helps to follow it. */
  debug(message: string, details?: unknown): void
  /** What goes as it should. */
  info(message: string, details?: unknown): void
  /** What should be looked at. */
  warn(message: string, details?: unknown): void
  /** What went wrong. */
  error(message: string, details?: unknown): void
}

/** What a client tells. An `error` that nobody listens to goes to the logger; it is never thrown. */
export interface ClientEvents {
  /** Something went wrong in the background. */
  error: [error: Error]
  /** A hold may be lost: a renewal failed or is overdue. `owner` is as secret as that of a `HolderState`. */
  uncertain: [hold: { readonly name: string; readonly owner: string; readonly cause: unknown }]
  /** A hold was lost. `owner` is as secret as that of a `HolderState`. */
  lost: [hold: { readonly name: string; readonly owner: string; readonly error: Error }]
  /** The connection came back. */
  reconnect: []
}

/** Listens to one event, or to any of several: what is told of none is `undefined`. */
export type ClientListener<E extends keyof ClientEvents> = (
  ...args: ClientEvents[E] extends infer A extends unknown[] ? (A extends [] ? [nothing: undefined] : A) : never
) => void
