/** Options of `client.slots`. */
export interface SlotsOptions {
  /** How long the server remembers that a slot was claimed, ms. After that, the slot could run again. Default: 7 days. */
  readonly retention?: number | undefined
}

/** Options of `slots.run`. */
export interface SlotOptions {
  /**
   * How often the slot may run again if the process that ran it has died, or has lost it. Above 0, the others wait until the run has ended, so that one of them
   * can take over. Work that throws has ended, and is not run again. Default 0.
   */
  readonly retry?: number | undefined
  /**
   * For slots that are a Date: the slot is not started if it is late by more than this many ms, by the server's clock. This is checked before the call waits, not
   * after. Default: no limit.
   */
  readonly grace?: number | undefined
  /**
   * If the process that runs the slot dies, another can take over after this many ms. The lease is renewed when a third of it is over. Default: the client's
   * `watchdog`, 30 000.
   */
  readonly lease?: number | undefined
  /** Ends the wait with its reason. It never ends the work. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/** One run of a slot. Your work receives it. */
export interface SlotRun {
  /** The name of the slot; for a Date, as ISO 8601. */
  readonly slot: string
  /** Aborts when another process can take over the slot: stop the work then. */
  readonly signal: AbortSignal
  /** For how many ms no other process can take over the slot. */
  remaining(): number
  /** A fencing token: it grows with each run of any of these slots. */
  readonly token: bigint
  /** 1, and one more each time that the slot was taken over. */
  readonly attempt: number
}

/** The client that runs or ran a slot. */
export interface SlotRunner {
  /** The id of the client. */
  readonly client: string
  /** The label of the client, if it has one and is connected. It comes from another process: escape it before you show it. */
  readonly label?: string | undefined
}

/**
 * Why a slot did not run here. `running`: it is already running. `ran`, `failed`: it has already run. `crashed`: the process that ran it died, and it may not run
 * again. `skipped`: `skip` was called. `late`: it is late by more than `grace`. `early`: it is not due yet.
 */
export type SkipReason = 'running' | 'ran' | 'failed' | 'crashed' | 'skipped' | 'late' | 'early'

/**
 * What happened to a slot. `failed`: the work threw; or another process took over the slot while the work ran, and then the error is a `LockLostError` with what the
 * work returned.
 */
export type SlotResult<T> =
  | { readonly outcome: 'ran'; readonly value: T; readonly token: bigint; readonly attempt: number }
  | { readonly outcome: 'failed'; readonly error: unknown; readonly token: bigint; readonly attempt: number }
  | {
      readonly outcome: 'skipped'
      readonly reason: SkipReason
      /** The client that claimed the slot, if any has. */
      readonly by?: SlotRunner | undefined
      /** How late the slot is by the server's clock, ms; negative if it is early. Only for slots that are a Date. */
      readonly late?: number | undefined
    }

/** What the server knows about a slot. */
export interface SlotState {
  /** The state of the slot. */
  readonly state: 'running' | 'ran' | 'failed' | 'crashed' | 'skipped'
  /** The client that claimed it. */
  readonly by: SlotRunner
  /** How often it was started. */
  readonly attempt: number
  /** The token of its newest run. */
  readonly token?: bigint | undefined
  /** When its newest run began, ms since the epoch, by the server's clock. */
  readonly began?: number | undefined
  /** When that run ended. */
  readonly ended?: number | undefined
}

/** Work that should happen once: each slot is claimed once, by the process that comes first, however short the work is. */
export interface Slots {
  /** The name that you gave the slots. */
  readonly name: string
  /**
   * Runs `work` if no process has claimed the slot. A Date is named by its ISO 8601 text, and is not started before it is due, by the server's clock. An error of
   * the work is part of the result. Rejects if the server cannot be reached, or refuses; then `work` has not started.
   */
  run<T>(slot: string | Date, work: (run: SlotRun) => Promise<T> | T): Promise<SlotResult<T>>
  /** The same, with options. */
  run<T>(
    slot: string | Date,
    options: SlotOptions | undefined,
    work: (run: SlotRun) => Promise<T> | T,
  ): Promise<SlotResult<T>>
  /** Claims the slot, so that no process runs it. `false`: it was claimed already. */
  skip(slot: string | Date): Promise<boolean>
  /** What the server knows about a slot; `undefined` if no process has claimed it. */
  inspect(slot: string | Date): Promise<SlotState | undefined>
  /** The newest Date that was already due when it was claimed. */
  last(): Promise<Date | undefined>
  /** The server's time, ms since the epoch. */
  now(): Promise<number>
}
