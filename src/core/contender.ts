import type { Clock, Timer } from './clock.js'
import { Pace } from './pace.js'
import type { Waiter } from './queue.js'
import type { Patience } from './request.js'
import { PASS_TIME } from './turns.js'
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
  /** Our turn has lasted for long enough: others who wait have theirs before we ask. */
  overstays?(): boolean
  /** They have had it. */
  stoodBack?(): void
  /** The server says that another has it: a single try is over, another call begins to wait. */
  refused(waiter: W): void
  /** A message may say in how many ms to ask, at the earliest. */
  delayOf?(payload: string): number
  /** The longest that it sleeps, ms, where that is not a poll. */
  readonly longest?: number | undefined
  /** Rejects those for whom it is over. True: somebody waits on. */
  troubled(trouble: unknown): boolean
  cannotSubscribe(error: unknown): void
  /** The contest is over for now. */
  rested(): void
}

/** How long others whose turn it is may take to ask, ms: Redisson takes 3 to 5. */
const COURTESY = 6
/** Around the end of a turn that others pass from hand to hand, the next in line asks: so long before it, and so long after, ms. */
const AHEAD = 2
const BEYOND = 6
/** A sleeper asks again at least this often: a lost message costs a poll, never a hang. */
export const POLL = 1000

/** The wait loop, one for each gate: ask, subscribe, ask again, sleep until a message, the lease's end or the next poll. */
export class Contender<W extends { readonly request: Patience } = Waiter> extends WaitLoop<W> {
  /** Messages heard: one that comes while an attempt is on its way must not be missed. */
  #heard = 0
  /** How many others waited when we last freed it, and how often it was freed since. */
  #others = 0
  #rounds = 0
  /** When it was last freed, and how long after the time before. */
  #freedAt = -Infinity
  #turn = 0
  /** How many messages of our own releases are on their way: they give nobody a turn. */
  #echoes = 0
  /** Others shall have their turn before we ask. */
  #courteous = false
  /** They are having it. */
  #standsBack = false
  #ear: Ear | undefined
  /** It was woken by a message, and for nothing so far. */
  #called = false
  /** A message said that it is to ask then. */
  #later: { readonly at: number; readonly timer: Timer } | undefined
  readonly #pace = new Pace()
  /** It cannot subscribe, or has not been answered for long. */
  #deaf = false

  /** What it sleeps for has come, or nobody is left to ask for. */
  wake(): void {
    this.#heard++
    this.interrupt()
  }

  /** So says a message: anybody who may publish can send it. */
  call(): void {
    this.#called = true
    this.#heard++
    if (!this.#standsBack) this.interrupt()
  }

  /** Somebody new is there to ask for. Others who are having their turn go on with it. */
  rouse(): void {
    this.#heard++
    if (!this.#standsBack) this.interrupt()
  }

  /** Messages are heard, or nobody can: whoever is told is not told in vain. */
  get listens(): boolean {
    return this.#deaf || (this.#ear !== undefined && this.contest.wakeups.hears(this.contest.channel))
  }

  /** Whether others are known to wait. */
  get othersWait(): boolean {
    return this.#others > 0
  }

  /** It is being freed though we wait for it ourselves. True: others wait too, or have had it since we last freed it. */
  freeing(): boolean {
    const others = this.othersWait || this.#rounds > 0
    this.#rounds = 0
    if (this.contest.wakeups.hears(this.contest.channel)) {
      this.#echoes++
      // The message may be here before the answer, and must not be missed: the next one would be taken for it.
      this.#listen()
    }
    return others
  }

  /**
   * So many processes were told, and all in this one who listen for it at other gates. They have a turn before us, or not yet.
   * Undefined: it is not known.
   */
  freed(told: number | undefined, courteous = true): void {
    if (told !== undefined) this.#told(told, courteous)
    if (this.running === undefined && this.contest.next() === undefined) this.#ear?.close()
  }

  #told(told: number, courteous: boolean): void {
    const { wakeups, channel } = this.contest
    this.#others =
      told - (wakeups.hears(channel) ? 1 : 0) + wakeups.listeners(channel) - (this.#ear === undefined ? 0 : 1)
    this.#courteous = this.#others > 0 && (courteous || this.#courteous)
    if (told === 0) this.#echoes = 0
    this.#changed()
    // It sleeps when the hold came by adoption: it was another's when it asked.
    this.rouse()
  }

  /** Some of it is ours now, and more may be given to others. */
  hadTurn(): void {
    this.#rounds = 0
  }

  protected async run(refused: boolean): Promise<void> {
    const { contest } = this
    if (contest.wakeups.hears(contest.channel)) this.#listen()
    else if (refused) await this.#subscribe()
    let troubles = 0
    for (let waiter = contest.next(); waiter !== undefined; waiter = contest.next()) {
      const heard = this.#heard
      this.#forget()
      const outcome = await this.#ask(waiter)
      if (outcome === 'served') {
        this.#courteous = false
        this.#pace.served()
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
      // What is released before the subscription stands is not heard: ask once more when it does, or when it is known that it cannot.
      const wasDeaf = this.#deaf
      if (this.#ear === undefined && ((await this.#subscribe()) || !wasDeaf)) continue
      if (this.#heard === heard) await this.sleep(this.#untilPoll(outcome))
      // Redis wakes all in the same order each time. So that nobody is starved, each of the others has a turn before us.
      this.#courteous = this.#heard !== heard && this.#rounds < this.#others
      const pause = this.#called ? this.#pace.delay(contest.clock.monotonic()) : 0
      this.#called = false
      if (pause > 0) await this.#unhurried(pause)
    }
    this.#ear?.close()
    this.#forget()
    this.over()
  }

  /** A message that comes later than another says nothing of that one: the first that is due counts. */
  #callIn(ms: number): void {
    const at = this.contest.clock.monotonic() + ms
    if (this.#later !== undefined && this.#later.at <= at) return
    this.#forget()
    const timer = this.contest.clock.setTimer(() => {
      this.#later = undefined
      this.call()
    }, ms + 1)
    this.#later = { at, timer }
  }

  #forget(): void {
    this.#later?.timer.cancel()
    this.#later = undefined
  }

  /** However many messages anybody sends, there are not as many questions. */
  async #unhurried(pause: number): Promise<void> {
    this.#standsBack = true
    await this.sleep(pause)
    this.#standsBack = false
  }

  /** Those whose turn it is were woken by the same release: they have a moment to ask in, and then we look first. */
  async #ask(waiter: W): Promise<Outcome> {
    if (!this.#courteous && this.contest.overstays?.() !== true) return this.contest.attempt(waiter)
    this.#courteous = false
    if (this.contest.hurried?.() !== true) {
      this.#standsBack = true
      await this.sleep(COURTESY)
      this.#standsBack = false
      this.contest.stoodBack?.()
      const left = this.contest.hurried?.() === true ? undefined : await this.contest.look?.()
      if (left !== undefined) return left
      if (this.contest.next() !== waiter) return 'served'
    }
    return this.contest.attempt(waiter)
  }

  #listen(): Ear {
    if (this.#ear !== undefined) return this.#ear
    const attended = this.contest.wakeups.listen(this.contest.channel, (payload) => {
      const delay = payload === undefined ? 0 : (this.contest.delayOf?.(payload) ?? 0)
      if (delay > 0) {
        this.#callIn(delay)
        return
      }
      this.#heard++
      this.#called ||= payload !== undefined
      if (payload === undefined) this.#echoes = 0
      else if (this.#echoes > 0) this.#echoes--
      else {
        this.#rounds++
        this.#changed()
      }
      if (!this.#standsBack) this.interrupt()
    })
    const ear: Ear = {
      ready: attended.ready,
      close: () => {
        if (this.#ear === ear) {
          this.#ear = undefined
          // What is still on its way is not heard.
          this.#echoes = 0
        }
        attended.close()
      },
    }
    return (this.#ear = ear)
  }

  /** False: it cannot subscribe, which was known. One that is not answered keeps nobody from asking; when it is, we ask once more. */
  async #subscribe(): Promise<boolean> {
    const ear = this.#listen()
    const ready = Promise.resolve(ear.ready).then(
      () => {
        this.#deaf = false
        this.wake()
        return true
      },
      (error: unknown) => {
        // Without messages it can join a line as well, which it has not asked for yet.
        const isNews = !this.#deaf
        this.#deaf = true
        ear.close()
        this.contest.cannotSubscribe(error)
        return isNews
      },
    )
    const late = this.sleep(POLL).then(() => {
      this.#deaf = !this.contest.wakeups.hears(this.contest.channel)
      return true
    })
    const goesOn = await Promise.race([ready, late])
    this.interrupt()
    return goesOn
  }

  /** Another's turn begins. */
  #changed(): void {
    const now = this.contest.clock.monotonic()
    this.#turn = now - this.#freedAt
    this.#freedAt = now
  }

  #untilPoll(left: number): number {
    const poll = this.contest.longest ?? POLL * (0.9 + 0.2 * this.contest.clock.random())
    return Math.min(left < 0 ? poll : left + 1, poll, this.#untilTurn())
  }

  /**
   * Who passes it from hand to hand is through at a known time. Whoever comes next asks each ms around it: a process that has
   * slept all the while, and a server that has had nothing to do, would take a millisecond longer to act on the message.
   */
  #untilTurn(): number {
    const isNext = this.#others > 0 && this.#rounds === this.#others - 1
    if (!isNext || this.#turn < PASS_TIME || this.#turn > PASS_TIME + BEYOND) return Infinity
    const left = this.#freedAt + PASS_TIME - this.contest.clock.monotonic()
    if (left > AHEAD) return left - AHEAD / 2
    return left > -BEYOND ? AHEAD / 2 : Infinity
  }
}
