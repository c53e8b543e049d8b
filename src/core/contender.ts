import type { Clock } from './clock.js'
import type { Waiter } from './queue.js'
import type { Patience } from './request.js'
import { WaitLoop } from './wait-loop.js'
import type { Ear, Wakeups } from './wakeups.js'

/** What became of an attempt: for how many ms the lock stays another's, or that somebody was served, or trouble. */
export type Outcome = number | 'served' | { readonly trouble: unknown }

/** What it contends for: a gate, unless said otherwise. */
export interface Contest<W extends { readonly request: Patience } = Waiter> {
  readonly clock: Clock
  readonly channel: string
  readonly wakeups: Wakeups
  /** For whom to ask: undefined when nobody waits, or somebody here holds it, or the client closes. */
  next(): W | undefined
  attempt(waiter: W): Promise<Outcome>
  /** Only looks: for how many ms it stays another's; undefined when it is free. Left out where an attempt costs no more. */
  look?(): Promise<number | undefined>
  /** Somebody is to be answered at once: nobody has a turn before us. */
  hurried?(): boolean
  /** The server says that another has it: a single try is over, another call begins to wait. */
  refused(waiter: W): void
  /** Rejects those for whom it is over. True: somebody waits on. */
  troubled(trouble: unknown): boolean
  cannotSubscribe(error: unknown): void
  /** The contest is over for now. */
  rested(): void
}

/** How long others whose turn it is may take to ask, ms: Redisson takes 3 to 5. */
const COURTESY = 6
/** A sleeper asks again at least this often: a lost message costs a poll, never a hang. */
export const POLL = 1000

/** The wait loop, one for each gate: ask, subscribe, ask again, sleep until a message, the lease's end or the next poll. */
export class Contender<W extends { readonly request: Patience } = Waiter> extends WaitLoop<W> {
  /** Messages heard: one that comes while an attempt is on its way must not be missed. */
  #heard = 0
  /** How many others waited when we last freed it, and how often it was freed since. */
  #others = 0
  #rounds = 0
  /** The message of our own release is on its way: it gives nobody a turn. */
  #echo = false
  /** Others shall have their turn before we ask. */
  #courteous = false
  /** They are having it. */
  #standsBack = false
  #listening = false

  /** What it sleeps for has come, or nobody is left to ask for. */
  wake(): void {
    this.#heard++
    this.interrupt()
  }

  /** Whether others are known to wait. */
  get othersWait(): boolean {
    return this.#others > 0
  }

  /** It is being freed though we wait for it ourselves. */
  freeing(): void {
    this.#rounds = 0
    this.#echo = this.contest.wakeups.hears(this.contest.channel)
  }

  /** So many processes were told, and all in this one who listen for it at other gates. */
  freed(told: number): void {
    const { wakeups, channel } = this.contest
    this.#others = told - (wakeups.hears(channel) ? 1 : 0) + wakeups.listeners(channel) - (this.#listening ? 1 : 0)
    this.#courteous = this.#others > 0
    // It sleeps when the hold came by adoption: it was another's when it asked.
    this.wake()
  }

  protected async run(refused: boolean): Promise<void> {
    const { contest } = this
    let ear = contest.wakeups.hears(contest.channel) ? this.#listen() : undefined
    if (refused) ear ??= await this.#subscribe()
    let troubles = 0
    for (let waiter = contest.next(); waiter !== undefined; waiter = contest.next()) {
      const heard = this.#heard
      const outcome = await this.#ask(waiter)
      if (outcome === 'served') {
        this.#courteous = false
        continue
      }
      if (typeof outcome === 'object') {
        if (contest.troubled(outcome.trouble)) await this.sleep(Math.min(50 * 2 ** troubles++, POLL))
        continue
      }
      troubles = 0
      contest.refused(waiter)
      const next = contest.next()
      if (next === undefined) break
      // A single try that came while another call was asked for is asked for at once.
      if (next !== waiter && next.request.wait === 0) continue
      if (ear === undefined) {
        ear = await this.#subscribe()
        // What is released before the subscription stands is not heard: ask once more when it does.
        if (ear !== undefined) continue
      }
      if (this.#heard === heard) await this.sleep(this.#untilPoll(outcome))
      // Redis wakes all in the same order each time. So that nobody is starved, each of the others has a turn before us.
      this.#courteous = this.#heard !== heard && this.#rounds < this.#others
    }
    ear?.close()
    this.over()
  }

  /** Those whose turn it is were woken by the same release: they have a moment to ask in, and then we look first. */
  async #ask(waiter: W): Promise<Outcome> {
    if (!this.#courteous) return this.contest.attempt(waiter)
    this.#courteous = false
    if (this.contest.hurried?.() !== true) {
      this.#standsBack = true
      await this.sleep(COURTESY)
      this.#standsBack = false
      const left = this.contest.hurried?.() === true ? undefined : await this.contest.look?.()
      if (left !== undefined) return left
      if (this.contest.next() !== waiter) return 'served'
    }
    return this.contest.attempt(waiter)
  }

  #listen(): Ear {
    const ear = this.contest.wakeups.listen(this.contest.channel, (payload) => {
      this.#heard++
      if (this.#echo) this.#echo = false
      else if (payload !== undefined) this.#rounds++
      if (!this.#standsBack) this.interrupt()
    })
    this.#listening = true
    return {
      ready: ear.ready,
      close: () => {
        this.#listening = false
        ear.close()
      },
    }
  }

  /** Undefined: it cannot be had. */
  async #subscribe(): Promise<Ear | undefined> {
    const ear = this.#listen()
    try {
      await ear.ready
      return ear
    } catch (error) {
      this.contest.cannotSubscribe(error)
      ear.close()
      return undefined
    }
  }

  #untilPoll(left: number): number {
    const poll = POLL * (0.9 + 0.2 * this.contest.clock.random())
    return left < 0 ? poll : Math.min(left + 1, poll)
  }
}
