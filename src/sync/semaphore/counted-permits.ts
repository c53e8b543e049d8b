import { LONGEST_UNDO } from '../../core/server/undo-acquire.js'
import type { Patience } from '../../core/waiting/acquire-request.js'
import type { Answer } from '../../core/shared/passage.js'
import { unlessSetUp } from '../../core/shared/unless-set-up.js'
import { permitsAmounts, permitsDeadlines, permitsGrants, permitsQueue, permitsTurn } from '../../keys.js'
import {
  semaphoreAcquire,
  semaphoreAdd,
  semaphoreAsk,
  semaphoreLeave,
  semaphoreUndo,
  semaphoreTrySetPermits,
} from '../../lua/scripts.gen.js'
import type { Turnstiles } from '../../core/shared/turnstiles.js'
import type { Waiter } from '../../core/waiting/waiter.js'
import { PermitsInLine } from './permits-in-line.js'

export interface PermitsRequest extends Patience {
  readonly permits: number
}

type PermitsWaiter = Waiter<PermitsRequest, number>

/** Permits without ids: only their number counts. */
export class CountedPermits extends PermitsInLine<PermitsRequest, number> {
  readonly kind = { name: 'semaphore' }

  constructor(turnstiles: Turnstiles, name: string, key: string) {
    super(turnstiles, name, key, {
      queue: permitsQueue(key),
      deadlines: permitsDeadlines(key),
      amounts: permitsAmounts(key),
      turn: permitsTurn(key),
      grants: permitsGrants(key),
    })
  }

  /** The keys of a step that uses the line. */
  #keys(note: string) {
    return [this.key, note, ...this.place.line] as const
  }

  async ask(waiters: readonly PermitsWaiter[], hears: boolean): Promise<Answer<PermitsRequest, number>> {
    const { steps } = this.runtime
    const note = steps.note(this.key)
    const wanted = waiters.map(({ request }) => request.permits)
    const patient = this.patient(waiters, hears)
    try {
      const calls = await (patient === undefined ? this.#take(note, wanted) : this.#joinLine(note, wanted, patient))
      if (calls > 0) steps.forget(note)
      if (calls === -1) return { granted: [], left: -1, vain: unlessSetUp(this.name, 'permits are') }
      return { granted: wanted.slice(0, calls), left: this.place.restless }
    } catch (error) {
      steps.undo(error, () => {
        const { own, voices } = this.place
        return this.runner.run(semaphoreUndo, this.#keys(note), [this.runtime.options.id, own, ...voices])
      })
      throw error
    }
  }

  /** Acquires permits that no place in the line comes first for. */
  async #take(note: string, wanted: readonly number[]): Promise<number> {
    const { queue, deadlines, turn } = this.place.keys
    const keys = [this.key, note, queue, deadlines, turn] as const
    const calls = await this.runner.take(semaphoreAcquire, keys, wanted, (served) => served > 0)
    // The next waiter may be dead.
    return calls === -2 ? this.#joinLine(note, wanted, undefined) : calls
  }

  /**
   * `patient`: the waiter that joins the line if it has to wait. Undefined: none joins, but the process may have a place already.
   */
  async #joinLine(note: string, wanted: readonly number[], patient: PermitsWaiter | undefined): Promise<number> {
    const owner = this.place.asks(patient !== undefined)
    const { own, news, voices } = this.place
    const args = [owner, patient?.request.permits ?? 0, news, own, ...voices, ...wanted] as const
    const answer = await this.runner.take(semaphoreAsk, this.#keys(note), args, ([served]) => served > 0)
    const [calls, first, open, share] = answer
    this.place.answered(owner, calls, first, open, share)
    return calls
  }

  protected leave(owner: string): Promise<unknown> {
    const { place } = this
    const keys = [this.key, ...place.line] as const
    return place.leaveBy(() => this.runner.run(semaphoreLeave, keys, [owner, place.own, ...place.voices]))
  }

  amount({ permits }: PermitsRequest): number {
    return permits
  }

  /** Passes the permits to waiters of this process, without the server. False: it did not. */
  pass(permits: number): boolean {
    return this.turnstiles.at(this)?.passing.pass(permits) === true
  }

  /** Permits granted until now are returned to the server, not passed on. */
  endPassing(): void {
    this.turnstiles.at(this)?.passing.end()
  }

  async make(permits: number, expiry: number, note: string): Promise<boolean> {
    const { own, voices } = this.place
    const args = [permits, expiry, this.runtime.options.id, own, ...voices] as const
    return (await this.runner.run(semaphoreTrySetPermits, this.#keys(note), args)) === 1
  }

  /** False: the semaphore does not exist, and must not be created. */
  add(amount: number, always: boolean, note: string): Promise<boolean> {
    const step = (owner: string, visits: number): Promise<number> => {
      const { own, voices } = this.place
      const args = [amount, always ? 1 : 0, owner, own, visits, ...voices] as const
      return this.runner.run(semaphoreAdd, this.#keys(note), args)
    }
    return this.back(step, (told) => told !== -1)
  }

  async giveBack(permits: number, always = false): Promise<void> {
    if (permits === 0 || this.pass(permits)) return
    await this.runtime.steps.surely(this.key, (note) => this.add(permits, always, note), { kept: LONGEST_UNDO })
  }
}
