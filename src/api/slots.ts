/** Which slots these are. */
export interface SlotsOptions {
  /** For how long it is remembered that a slot was claimed, ms: one that is older could run again. Default: 7 days. */
  readonly retention?: number | undefined
}

/** How a slot is run. */
export interface SlotOptions {
  /**
   * How often it may be run again when the process that ran it has died, or has lost it. Above 0, the others wait until its run has ended, so that one of them can take over.
   * Work that throws has ended, and is not run again. Default 0.
   */
  readonly retry?: number | undefined
  /** For slots that are a Date: one that is late by more, ms, by the server's clock, is not started. Judged before it waits. Default: no limit. */
  readonly grace?: number | undefined
  /** After how many ms a slot whose process has died can be taken over. It is renewed each third of it. Default: the client's `watchdog`, 30 000. */
  readonly lease?: number | undefined
  /** Ends the wait, with its reason; never the work. */
  readonly signal?: AbortSignal | undefined
}

/** One run of a slot, given to its work. */
export interface SlotRun {
  /** Its name; of a Date, as ISO 8601. */
  readonly slot: string
  /** Aborts when the slot can be taken over by another: stop then. */
  readonly signal: AbortSignal
  /** A fencing token: grows with each run of any of these slots. */
  readonly token: bigint
  /** 1, and one more each time that it was taken over. */
  readonly attempt: number
}

/** The client that runs or ran a slot. */
export interface SlotRunner {
  /** The id of its client. */
  readonly client: string
  /** Of its client, where it has one and is connected. It comes from others: escape it before showing. */
  readonly label?: string | undefined
}

/**
 * Why a slot was not run here. `running`: it is running already. `ran`, `failed`: it has run already. `crashed`: the process that ran it died, and it may not be run again. `skipped`: `skip` was called.
 * `late`: by more than `grace`. `early`: it is not due yet.
 */
export type SkipReason = 'running' | 'ran' | 'failed' | 'crashed' | 'skipped' | 'late' | 'early'

/** What happened when a slot was asked for. `failed`: the work threw, or another took over while it ran: then a `LockLostError` with what it returned. */
export type SlotResult<T> =
  | { readonly outcome: 'ran'; readonly value: T; readonly token: bigint; readonly attempt: number }
  | { readonly outcome: 'failed'; readonly error: unknown; readonly token: bigint; readonly attempt: number }
  | {
      readonly outcome: 'skipped'
      readonly reason: SkipReason
      /** Who claimed it, if anybody has. */
      readonly by?: SlotRunner | undefined
      /** How late it is by the server's clock, ms; negative where it is early. Only for slots that are a Date. */
      readonly late?: number | undefined
    }

/** What the server knows of a slot. */
export interface SlotState {
  /** How it stands. */
  readonly state: 'running' | 'ran' | 'failed' | 'crashed' | 'skipped'
  /** Who claimed it. */
  readonly by: SlotRunner
  /** How often it was started. */
  readonly attempt: number
  /** The token of its newest run. */
  readonly token?: bigint | undefined
  /** When its newest run began, ms since the epoch, by the server's clock. */
  readonly began?: number | undefined
  /** When it ended. */
  readonly ended?: number | undefined
}

/** Things that are to happen once: each slot is claimed once, whichever process comes first and however short the work. */
export interface Slots {
  /** As it was given to the client. */
  readonly name: string
  /**
   * Runs `work` if nobody has claimed the slot. A Date is named by its ISO 8601 text, and is not started before it is due, by the server's clock. An error of the work is in the
   * result. Rejects when the server could not be asked or refused, and then `work` has not started.
   */
  run<T>(slot: string | Date, work: (run: SlotRun) => Promise<T> | T): Promise<SlotResult<T>>
  /** The same, with options. */
  run<T>(
    slot: string | Date,
    options: SlotOptions | undefined,
    work: (run: SlotRun) => Promise<T> | T,
  ): Promise<SlotResult<T>>
  /** Claims the slot, so that nobody runs it. `false`: it was claimed already. */
  skip(slot: string | Date): Promise<boolean>
  /** What is known of a slot; `undefined` when nobody has claimed it. */
  inspect(slot: string | Date): Promise<SlotState | undefined>
  /** The newest Date that was ever claimed, of those that were due by then. */
  last(): Promise<Date | undefined>
  /** The server's time, ms since the epoch. */
  now(): Promise<number>
}
