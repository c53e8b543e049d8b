import type { Clock } from './clock.js'
import type { Waiter } from './queue.js'
import type { Ear, Wakeups } from './wakeups.js'

/** What became of an attempt: for how many ms the lock stays another's, or that somebody was served, or trouble. */
export type Outcome = number | 'served' | { readonly trouble: unknown }

/** The gate that it contends for. */
export interface Contest {
  readonly clock: Clock
  readonly channel: string
  readonly wakeups: Wakeups
  /** For whom to ask: undefined when nobody waits, or somebody here holds it, or the client closes. */
  next(): Waiter | undefined
  attempt(waiter: Waiter): Promise<Outcome>
  /** The server says that another has it: a single try is over, another call begins to wait. */
  refused(waiter: Waiter): void
  /** Rejects those for whom it is over. True: somebody waits on. */
  troubled(trouble: unknown): boolean
  cannotSubscribe(error: unknown): void
  /** The contest is over for now. */
  rested(): void
}

/** How long we stand back after an open release that others were told of. */
const STAND_BACK = 2
/** Who held within this time lets others go first when all are woken at once. */
const RECENT = 60
/** A sleeper asks again at least this often: a lost message costs a poll, never a hang. */
const POLL = 1000

/** The wait loop, one for each gate: ask, subscribe, ask again, sleep until a message, the lease's end or the next poll. */
export class Contender {
  readonly #contest: Contest
  #running: Promise<void> | undefined
  #wake: ((message: boolean) => void) | undefined
  /** Messages heard: one that comes while an attempt is on its way must not be missed. */
  #heard = 0
  #standBackUntil = -Infinity
  #heldUntil = -Infinity

  constructor(contest: Contest) {
    this.#contest = contest
  }

  get running(): Promise<void> | undefined {
    return this.#running
  }

  /** ms for which others shall have their turn. */
  get standingBack(): number {
    return this.#standBackUntil - this.#contest.clock.monotonic()
  }

  start(): void {
    if (this.#running === undefined && this.#contest.next() !== undefined) this.#running = this.#run()
  }

  /** Whoever was waited for has left. */
  look(): void {
    this.#wake?.(false)
  }

  heldUntil(mono: number): void {
    this.#heldUntil = mono
  }

  /** It was freed, and so many processes were told. */
  freed(told: number): void {
    const { clock, wakeups, channel } = this.#contest
    const others = told - (wakeups.hears(channel) ? 1 : 0)
    if (others > 0) this.#standBackUntil = clock.monotonic() + STAND_BACK * (0.5 + clock.random())
  }

  /** Goes on while there is somebody to ask for. Never rejects. */
  async #run(): Promise<void> {
    const contest = this.#contest
    let ear = contest.wakeups.hears(contest.channel) ? this.#listen() : undefined
    let troubles = 0
    for (let waiter = contest.next(); waiter !== undefined; waiter = contest.next()) {
      if (waiter.request.wait > 0 && this.standingBack > 0) {
        await this.#sleep(this.standingBack, false)
        continue
      }
      const heard = this.#heard
      const outcome = await contest.attempt(waiter)
      if (outcome === 'served') continue
      if (typeof outcome === 'object') {
        if (contest.troubled(outcome.trouble)) await this.#sleep(Math.min(50 * 2 ** troubles++, POLL), true)
        continue
      }
      troubles = 0
      contest.refused(waiter)
      if (contest.next() === undefined) break
      if (ear === undefined) {
        ear = this.#listen()
        // What is released before the subscription stands is not heard: ask once more when it does.
        if (await this.#stands(ear)) continue
        ear.close()
        ear = undefined
      }
      if (this.#heard === heard) await this.#sleep(this.#untilPoll(outcome), true)
      if (this.#heard !== heard) await this.#sleep(this.#courtesy(), false)
    }
    ear?.close()
    this.#running = undefined
    contest.rested()
  }

  #listen(): Ear {
    return this.#contest.wakeups.listen(this.#contest.channel, () => {
      this.#heard++
      this.#wake?.(true)
    })
  }

  async #stands(ear: Ear): Promise<boolean> {
    try {
      await ear.ready
      return true
    } catch (error) {
      this.#contest.cannotSubscribe(error)
      return false
    }
  }

  #untilPoll(left: number): number {
    const poll = POLL * (0.9 + 0.2 * this.#contest.clock.random())
    return left < 0 ? poll : Math.min(left + 1, poll)
  }

  /** All are woken by one message; who held just now comes last, so that the order of delivery starves nobody. */
  #courtesy(): number {
    const since = this.#contest.clock.monotonic() - this.#heldUntil
    return since >= RECENT ? 0 : (1 - since / RECENT) * (1 + this.#contest.clock.random())
  }

  /** Until the time is up, or there is nobody left to ask for; a message ends it only when `light`. */
  #sleep(ms: number, light: boolean): Promise<void> {
    if (ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel()
        this.#wake = undefined
        resolve()
      }
      const timer = this.#contest.clock.setTimer(end, ms)
      this.#wake = (message) => {
        if (light || !message) end()
      }
    })
  }
}
