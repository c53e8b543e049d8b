import { type Clock, limitAnswers, type Timer } from '../base/clock.js'
import type { EngineError } from '../errors.js'
import { noReply } from './link-errors.js'

/** A command under way. */
export interface Pending {
  readonly due: number
  readonly reject: (error: Error) => void
  readonly target: string | undefined
  settled: boolean
}

/** How long a command may take. */
export interface TimeoutOptions {
  readonly clock: Clock
  readonly commandTimeout: number
}

/** The commands under way. All have the same time limit, so one timer is enough, for the oldest of them. */
export class ReplyTimeouts {
  readonly #address: string
  readonly #clock: Clock
  readonly #limit: number
  readonly #overdue: () => void
  /** Oldest first. */
  #pending: Pending[] = []
  #oldest = 0
  #timer: Timer | undefined
  /** How many replies have come. */
  answers = 0
  /** Some command has timed out since the last reply. */
  silent = false

  /** `overdue` is called after commands were rejected because no reply came in time. */
  constructor(address: string, { clock, commandTimeout }: TimeoutOptions, overdue: () => void) {
    this.#address = address
    this.#clock = clock
    this.#limit = commandTimeout
    this.#overdue = overdue
  }

  /** How long the oldest command without a reply has been waiting, ms. */
  get silence(): number {
    const oldest = this.#pending[this.#oldest]
    return oldest === undefined ? 0 : this.#limit - (oldest.due - this.#clock.monotonic())
  }

  expect(reject: Pending['reject'], target?: string): Pending {
    const due = this.#clock.monotonic() + this.#limit
    const pending: Pending = { due, reject, target, settled: false }
    this.#pending.push(pending)
    this.#timer ??= this.#arm(this.#limit)
    return pending
  }

  /** The server has answered a command. */
  answered(): void {
    this.silent = false
    this.answers++
  }

  settle(pending: Pending): void {
    pending.settled = true
    const queue = this.#pending
    while (this.#oldest < queue.length && queue[this.#oldest]?.settled === true) this.#oldest++
    if (this.#oldest === queue.length) {
      queue.length = 0
      this.#oldest = 0
    } else if (this.#oldest > 1024) {
      queue.splice(0, this.#oldest)
      this.#oldest = 0
    }
  }

  /** Rejects all commands: no reply is expected any more. */
  failAll(errorOf: (target: string | undefined) => Error): void {
    const failed = this.#pending.slice(this.#oldest).filter((pending) => !pending.settled)
    this.#pending = []
    this.#oldest = 0
    this.#timer?.cancel()
    this.#timer = undefined
    for (const pending of failed) {
      pending.settled = true
      pending.reject(errorOf(pending.target))
    }
  }

  /** The error of commands whose reply did not come in time. */
  late(target?: string): EngineError {
    return noReply(this.#address, `within ${this.#limit} ms`, target)
  }

  #arm(ms: number): Timer {
    return limitAnswers(this.#clock, (then) => this.#expire(then), ms, { background: true })
  }

  /** Rejects the commands that were due by `then`. */
  #expire(then: number): void {
    this.#timer = undefined
    let overdue = false
    let next = this.#pending[this.#oldest]
    while (next !== undefined && (next.settled || next.due <= then)) {
      overdue ||= !next.settled
      if (!next.settled) next.reject(this.late(next.target))
      this.settle(next)
      next = this.#pending[this.#oldest]
    }
    if (next !== undefined) this.#timer = this.#arm(next.due - this.#clock.monotonic())
    if (!overdue) return
    this.silent = true
    this.#overdue()
  }
}
