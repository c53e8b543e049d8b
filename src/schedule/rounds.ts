import { type Clock, dateAt, type Timer } from '../core/clock.js'
import { ClosedError, EngineError } from '../errors.js'
import type { SlotResult, Slots } from '../slot-types.js'
import type { Cron } from './cron.js'
import type { ScheduledRun, ScheduleOptions } from './schedule.js'

/** So many slots are told to be missed at most. */
const MOST = 100
const GRACE = 60_000
/** It asks the server what time it is at least so often, ms: clocks part. */
const LONGEST = 60_000
/** How soon it asks again when the server is away, ms. */
const AGAIN = 1000

/** What asking again would not change. */
const FINAL: ReadonlySet<string> = new Set(['WRONG_KIND', 'WRONGTYPE', 'NOPERM', 'NOAUTH', 'WRONGPASS'])

const mayPass = (error: unknown): boolean => error instanceof EngineError && !FINAL.has(error.code)

interface RoundsOptions {
  readonly name: string
  readonly slots: Slots
  readonly cron: Cron
  readonly clock: Clock
  readonly options: ScheduleOptions
  readonly work: (run: ScheduledRun) => unknown
}

/** Looks which slots are due, again and again. */
export class Rounds {
  readonly #it: RoundsOptions
  /** Slots up to this one have been looked at; `undefined` before the first look. */
  #from: number | undefined
  /** By when they were due. */
  readonly #running = new Map<number, Promise<void>>()
  #stopped = false
  #timer: Timer | undefined
  #wake: (() => void) | undefined
  #over: Promise<void> | undefined
  next: number | undefined

  constructor(it: RoundsOptions) {
    this.#it = it
  }

  start(): void {
    this.next = this.#it.cron.next(this.#it.clock.now())
    this.#over ??= this.#loop()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake?.()
    await this.#over
    await Promise.all(this.#running.values())
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      let sleep: number
      try {
        sleep = await this.#round()
      } catch (error) {
        if (error instanceof ClosedError) return
        if (!mayPass(error)) this.#failed(error)
        sleep = AGAIN
      }
      await this.#pause(sleep)
    }
  }

  /** In how many ms the next is due. */
  async #round(): Promise<number> {
    const { slots, cron } = this.#it
    const now = await slots.now()
    this.#from ??= Math.min(now, (await slots.last())?.getTime() ?? now)
    const from = this.#from
    const due = cron.before(now, MOST).filter((slot) => slot > from && !this.#running.has(slot))
    const { grace = GRACE, catchUp } = this.#it.options
    const late = due.filter((slot) => now - slot > grace)
    const begin = due.filter((slot) => now - slot <= grace)
    const latest = catchUp === 'latest' && begin.length === 0 ? late.pop() : undefined
    await this.#miss(late)
    this.#from = now
    if (latest !== undefined) this.#begin(latest, Infinity)
    for (const slot of begin) this.#begin(slot, grace)
    this.next = cron.next(now)
    return this.next === undefined ? LONGEST : Math.min(LONGEST, this.next - now)
  }

  /** Nobody runs them any more. One process tells. */
  async #miss(late: readonly number[]): Promise<void> {
    const missed: Date[] = []
    for (const slot of late) if (await this.#it.slots.skip(dateAt(slot))) missed.push(dateAt(slot))
    if (missed.length === 0) return
    const { onMissed } = this.#it.options
    if (onMissed !== undefined) this.#tell(() => onMissed(missed))
    else this.#warn(`missed ${missed.length} slots, the last of them ${missed.at(-1)?.toISOString()}`)
  }

  #begin(slot: number, grace: number): void {
    const run = this.#run(slot, grace).then(() => {
      this.#running.delete(slot)
    })
    this.#running.set(slot, run)
  }

  async #run(slot: number, grace: number): Promise<void> {
    const { slots, work, options } = this.#it
    const { retry, lease, onResult } = options
    const due = dateAt(slot)
    let result: SlotResult<unknown>
    try {
      result = await slots.run(due, { retry, lease, ...(grace < Infinity && { grace }) }, (run) =>
        work({ ...run, due }),
      )
    } catch (error) {
      // It is looked at once more, by the time of then.
      if (mayPass(error)) this.#from = Math.min(this.#from ?? slot, slot) - 1
      else if (!(error instanceof ClosedError)) this.#failed(error)
      this.#wakeIn(AGAIN)
      return
    }
    if (onResult !== undefined) this.#tell(() => onResult(result, due))
    else if (result.outcome === 'failed') this.#warn(`the slot of ${due.toISOString()} has failed`, result.error)
  }

  #failed(error: unknown): void {
    const { onError } = this.#it.options
    if (onError !== undefined) this.#tell(() => onError(error))
    else this.#warn('the server refused', error)
  }

  /** What a listener throws must not end the schedule. */
  #tell(listener: () => unknown): void {
    try {
      listener()
    } catch (error) {
      this.#warn('a listener threw', error)
    }
  }

  #warn(what: string, cause?: unknown): void {
    const why = cause instanceof Error ? `: ${cause.stack ?? cause.message}` : ''
    process.emitWarning(`schedule '${this.#it.name}': ${what}${why}`, 'HoldfastWarning')
  }

  #pause(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#timer?.cancel()
        resolve()
      }
      this.#wakeIn(ms)
    })
  }

  #wakeIn(ms: number): void {
    this.#timer?.cancel()
    this.#timer = this.#it.clock.setTimer(() => this.#wake?.(), ms)
  }
}
