import type { Runner } from '../../core/protocol.js'
import type { Waiter } from '../../core/queue.js'
import { KEPT } from '../../core/requests.js'
import type { Patience } from '../../core/request.js'
import type { Runtime } from '../../core/runtime.js'
import { Speaker } from '../../core/speaker.js'
import { type Answer, type Passage, unlessSetUp } from '../../core/passage.js'
import { reservationKey, semaphoreChannel } from '../../keys.js'
import { semaphoreAcquire, semaphoreAdd, semaphoreRetract, semaphoreUnreserve } from '../../lua/scripts.gen.js'

export interface PermitsRequest extends Patience {
  readonly permits: number
}

type PermitsWaiter = Waiter<PermitsRequest, number>

/** Permits are saved up for a call that has waited so long, ms, and for no longer than this at a time. */
const PATIENT = 1000
const SAVED_AT_MOST = 60_000
/** They are so for the others unless it says again that it waits. */
const BELIEVED = 3000

/** For whom permits are saved up, until when, and from when on they may be again. */
interface Turn {
  readonly waiter: PermitsWaiter
  until: number
  again: number
  /** How often they were. */
  turns: number
}

/** The permits of a semaphore, as those see them who take some. */
export class Permits implements Passage<PermitsRequest, number> {
  readonly name: string
  readonly kind = { name: 'semaphore' }
  readonly key: string
  readonly channel: string
  readonly #runtime: Runtime
  readonly #runner: Runner
  #turn: Turn | undefined

  constructor(runtime: Runtime, name: string, key: string) {
    this.#runtime = runtime
    this.#runner = new Speaker(runtime, name)
    this.name = name
    this.key = key
    this.channel = semaphoreChannel(key)
  }

  async ask(waiters: readonly PermitsWaiter[]): Promise<Answer<PermitsRequest, number>> {
    const { requests, options } = this.#runtime
    const note = requests.note(this.key)
    const wanted = waiters.map(({ request }) => request.permits)
    const first = waiters[0] as PermitsWaiter
    const reserve = this.#reserve(first)
    const keys = [this.key, note, reservationKey(this.key), this.channel] as const
    const args = [options.id, Math.min(reserve, BELIEVED), this.#runner.publishCommand, ...wanted] as const
    try {
      const [calls, left, reserved] = await this.#runner.take(semaphoreAcquire, keys, args, ([served]) => served > 0)
      if (calls > 0) requests.forget(note)
      if (reserved === 1) this.#reserved(first, reserve)
      if (calls === -1) return { granted: [], left, vain: unlessSetUp(this.name, 'permits are') }
      return { granted: wanted.slice(0, calls), left }
    } catch (error) {
      if (reserve > 0) this.#reserved(first, reserve)
      requests.undo(error, () =>
        this.#runner.run(semaphoreRetract, [this.key, this.channel, note], [this.#runner.publishCommand]),
      )
      throw error
    }
  }

  /**
   * For how many ms others leave permits to this call. Who wants several at once would never see as many while others take
   * one at a time; so others stand back for as long as it has waited. When that was in vain it stands back for twice as long,
   * the next time for four times as long, and so on: it may be that there will never be as many.
   */
  #reserve(waiter: PermitsWaiter): number {
    const { request, since } = waiter
    if (request.permits === 1 || request.wait === 0) return 0
    if (this.#turn?.waiter !== waiter) this.#turn = { waiter, until: -Infinity, again: since + PATIENT, turns: 0 }
    const now = this.#runtime.options.clock.monotonic()
    const { until, again } = this.#turn
    if (now < until) return Math.ceil(until - now)
    return now < again ? 0 : Math.ceil(Math.min(now - since, SAVED_AT_MOST))
  }

  /** They are saved up, or may be: only then was it its turn. */
  #reserved(waiter: PermitsWaiter, saved: number): void {
    const turn = this.#turn
    if (turn?.waiter !== waiter) {
      // It left while its answer was on the way.
      if (!waiter.queued) this.#unreserve()
      return
    }
    const now = this.#runtime.options.clock.monotonic()
    if (now < turn.until) return
    turn.until = now + saved
    turn.again = turn.until + saved * 2 ** ++turn.turns
  }

  left(waiter: PermitsWaiter): void {
    const turn = this.#turn
    if (turn?.waiter !== waiter) return
    this.#turn = undefined
    if (turn.turns > 0) this.#unreserve()
  }

  #unreserve(): void {
    const keys = [this.key, this.channel, reservationKey(this.key)] as const
    const { id } = this.#runtime.options
    this.#runtime.inBackground(() => this.#runner.run(semaphoreUnreserve, keys, [id, this.#runner.publishCommand]))
  }

  amount({ permits }: PermitsRequest): number {
    return permits
  }

  /** Those who wait here have them, without the server. False: they do not. */
  pass(permits: number): boolean {
    return this.#runtime.turnstiles.at(this)?.pass(permits) === true
  }

  /** What is taken now shall be seen by the server when it is given back. */
  endTurns(): void {
    this.#runtime.turnstiles.at(this)?.endTurns()
  }

  /** False: there is no such semaphore, and it is not to be made. */
  async add(amount: number, always: boolean, note: string): Promise<boolean> {
    const keys = [this.key, this.channel, note] as const
    const args = [amount, this.#runner.publishCommand, always ? 1 : 0] as const
    return (await this.#runtime.turnstiles.give(this, () => this.#runner.run(semaphoreAdd, keys, args))) !== -1
  }

  async giveBack(permits: number): Promise<void> {
    if (permits === 0 || this.pass(permits)) return
    await this.#runtime.requests.surely(this.key, (note) => this.add(permits, false, note), { kept: KEPT })
  }
}
