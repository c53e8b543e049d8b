import { platform } from '#platform'
import type { ReleaseMode } from '../../api/hold.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import type { Patience } from '../../core/waiting/acquire-request.js'
import { LONGEST_UNDO } from '../../core/server/undo-acquire.js'
import type { LeaseTerms } from '../../core/hold/lease-terms.js'
import type { Answer } from '../../core/shared/passage.js'
import { unlessSetUp } from '../../core/shared/unless-set-up.js'
import {
  expirableAmounts,
  expirableDeadlines,
  expirableGrants,
  expirableQueue,
  expirableTurn,
  permitTimeouts,
} from '../../keys.js'
import {
  permitSemaphoreAcquire,
  permitSemaphoreAdd,
  permitSemaphoreAsk,
  permitSemaphoreCount,
  permitSemaphoreLeave,
  permitSemaphorePass,
  permitSemaphoreRelease,
  permitSemaphoreUndo,
  permitSemaphoreSetPermits,
  permitSemaphoreTrySetPermits,
} from '../../lua/scripts.gen.js'
import type { Turnstiles } from '../../core/shared/turnstiles.js'
import type { Waiter } from '../../core/waiting/waiter.js'
import { PermitsInLine } from '../semaphore/permits-in-line.js'
import { quoted } from '../../plain-text.js'

export interface PermitsRequest extends Patience {
  readonly count: number
  /** An infinite lease never ends. */
  readonly terms: LeaseTerms
  readonly release: ReleaseMode
  /** Its count was compared once with the number of all permits. Permits may be added one by one while it waits. */
  asked?: true
}

/** The permits of one call, and when they were requested. */
export interface Grant {
  readonly ids: readonly string[]
  readonly sent: Moment
}

type PermitsWaiter = Waiter<PermitsRequest, Grant>

/** A script's answer to one question. */
interface Served {
  /** How many calls got their permits; -1: no permits are set. */
  readonly calls: number
  /** In how many ms a permit expires, for the first in the line. */
  readonly left: number
  /** The number of all permits, including those in use. */
  readonly all: number
}

/** This many ids count as much as one call. */
const IDS_OF_A_CALL = 20

/** 16 random bytes in hex, like Redisson's ids. */
const newId = (clock: Clock): string => platform.toHex(clock.randomBytes(16))

/** Permits that each have an id. */
export class IdentifiedPermits extends PermitsInLine<PermitsRequest, Grant> {
  readonly kind = { name: 'permitSemaphore' }
  readonly timeouts: string

  constructor(turnstiles: Turnstiles, name: string, key: string) {
    super(turnstiles, name, key, {
      queue: expirableQueue(key),
      deadlines: expirableDeadlines(key),
      amounts: expirableAmounts(key),
      turn: expirableTurn(key),
      grants: expirableGrants(key),
    })
    this.timeouts = permitTimeouts(key)
  }

  /** The form in which scripts expect an id. Redisson up to 3.16 stores its text; see `member-of.lua`. */
  marked(id: string): string {
    const { redisson } = this.runner.fleet
    return redisson === '3.8' || redisson === '3.16' ? `=${id}` : id
  }

  weight({ count }: PermitsRequest): number {
    return Math.max(1, count / IDS_OF_A_CALL)
  }

  /** The keys of a step that uses the line. */
  #keys(note: string) {
    return [this.key, note, ...this.place.line, this.timeouts] as const
  }

  /** New ids for the waiters, and the arguments of the scripts for each. */
  #calls(waiters: readonly PermitsWaiter[]): { grants: Grant[]; calls: (string | number)[] } {
    const { clock } = this.runtime.options
    const sent = momentOf(clock)
    const grants = waiters.map(({ request }) => ({
      sent,
      ids: Array.from({ length: request.count }, () => newId(clock)),
    }))
    const calls = waiters.flatMap(({ request: { terms } }, place) => {
      const ids = (grants[place] as Grant).ids.map((id) => this.marked(id))
      return [terms.lease === Infinity ? 0 : terms.lease, ids.length, ...ids]
    })
    return { grants, calls }
  }

  /** Releases whatever an unanswered question acquired, and stops a late copy of it from acquiring anything. */
  #undo(error: unknown, note: string, waiters: readonly PermitsWaiter[], grants: readonly Grant[]): void {
    const { runtime } = this
    const ids = grants.flatMap((grant) => grant.ids.map((id) => this.marked(id)))
    const { own, voices } = this.place
    const args = [runtime.options.id, own, ...voices, ...ids] as const
    const undo = (): Promise<number> => this.runner.run(permitSemaphoreUndo, this.#keys(note), args)
    runtime.steps.undo(error, undo, Math.max(...waiters.map(({ request }) => request.terms.lease)))
  }

  async ask(waiters: readonly PermitsWaiter[], hears: boolean): Promise<Answer<PermitsRequest, Grant>> {
    const note = this.runtime.steps.note(this.key)
    const { grants, calls } = this.#calls(waiters)
    const patient = this.patient(waiters, hears)
    try {
      const served = await (patient === undefined ? this.#take(note, calls) : this.#joinLine(note, calls, patient))
      if (served.calls === -1) return { granted: [], left: served.left, vain: unlessSetUp(this.name, 'permits are') }
      const vain = (request: PermitsRequest): Error | undefined => this.#tooMany(request, served.all)
      return { granted: grants.slice(0, served.calls), left: served.left, vain }
    } catch (error) {
      this.#undo(error, note, waiters, grants)
      throw error
    }
  }

  /** Acquires permits that no place in the line comes first for. */
  async #take(note: string, calls: readonly (string | number)[]): Promise<Served> {
    const [permits, , queue, deadlines, , turn, timeouts] = this.#keys(note)
    const keys = [permits, note, queue, deadlines, turn, timeouts] as const
    const args = [this.told, this.runner.publishCommand, ...calls] as const
    const [served, all] = await this.runner.take(permitSemaphoreAcquire, keys, args, ([count]) => count > 0)
    // The next waiter may be dead.
    return served === -2 ? this.#joinLine(note, calls, undefined) : { calls: served, left: -1, all }
  }

  /**
   * `patient`: the waiter that joins the line if it has to wait. Undefined: none joins, but the process may have a place already.
   */
  async #joinLine(
    note: string,
    calls: readonly (string | number)[],
    patient: PermitsWaiter | undefined,
  ): Promise<Served> {
    const owner = this.place.asks(patient !== undefined)
    const { own, news, voices } = this.place
    const args = [owner, patient?.request.count ?? 0, news, own, ...voices, ...calls] as const
    const answer = await this.runner.take(permitSemaphoreAsk, this.#keys(note), args, ([count]) => count > 0)
    const [served, first, open, share, left, all] = answer
    this.place.answered(owner, served, first, open, share)
    const { restless } = this.place
    return { calls: served, left: left < 0 || restless < 0 ? Math.max(left, restless) : Math.min(left, restless), all }
  }

  /** With no permits at all there is no error: they may be added later. */
  #tooMany(request: PermitsRequest, all: number): Error | undefined {
    const { count, needsSetup, asked } = request
    request.asked = true
    if (asked === true || needsSetup !== true || all < 1 || count <= all) return undefined
    return new RangeError(`count must be at most ${all}, all permits of ${quoted(this.name)}, not ${count}`)
  }

  protected leave(owner: string): Promise<unknown> {
    const { line, own, voices } = this.place
    const keys = [this.key, ...line, this.timeouts] as const
    return this.place.leaveBy(() => this.runner.run(permitSemaphoreLeave, keys, [owner, own, ...voices]))
  }

  async count(): Promise<{ there: boolean; available: number; acquired: number }> {
    const { voices, keys } = this.place
    const counted = [this.key, this.timeouts, keys.queue] as const
    const [there, available, acquired] = await this.runner.run(permitSemaphoreCount, counted, voices)
    return { there: there === 1, available, acquired }
  }

  async make(permits: number, note: string): Promise<boolean> {
    return (await this.runner.run(permitSemaphoreTrySetPermits, this.#keys(note), this.#change(permits))) === 1
  }

  set(permits: number, note: string): Promise<number> {
    return this.runner.run(permitSemaphoreSetPermits, this.#keys(note), this.#change(permits))
  }

  add(permits: number, note: string): Promise<number> {
    return this.runner.run(permitSemaphoreAdd, this.#keys(note), this.#change(permits))
  }

  #change(amount: number) {
    const { own, voices } = this.place
    return [amount, this.runtime.options.id, own, ...voices] as const
  }

  amount({ count }: PermitsRequest): number {
    return count
  }

  /** Releases all or none. Within the pass time, waiters of this process get them, with new ids. */
  async release(ids: readonly string[], note: string): Promise<boolean> {
    const here = this.turnstiles.at<PermitsRequest, Grant>(this)
    let gone: boolean | undefined
    await here?.passing.passBy(ids.length, async (waiters: readonly PermitsWaiter[]) => {
      const { grants, calls } = this.#calls(waiters)
      const done = await this.#pass(ids, note, calls, (voided, error) => this.#undo(error, voided, waiters, grants))
      if (done !== -2) gone = done !== -1
      return done === 1 ? grants : undefined
    })
    return gone ?? this.#giveUp(ids, note)
  }

  async #pass(
    ids: readonly string[],
    note: string,
    calls: readonly (string | number)[],
    failed: (voided: string, error: unknown) => void,
  ): Promise<number> {
    const voided = this.runtime.steps.note(this.key)
    const keys = [this.key, note, this.timeouts, voided] as const
    const args = [ids.map((id) => this.marked(id)).join(' '), ...calls] as const
    try {
      return await this.runner.take(permitSemaphorePass, keys, args, (done) => done === 1)
    } catch (error) {
      failed(voided, error)
      throw error
    }
  }

  #giveUp(ids: readonly string[], note: string): Promise<boolean> {
    const step = (owner: string, visits: number): Promise<number> => {
      const { own, voices } = this.place
      const marked = ids.map((id) => this.marked(id))
      const args = [owner, own, visits, ...voices, ...marked] as const
      return this.runner.run(permitSemaphoreRelease, this.#keys(note), args)
    }
    return this.back(step, (done) => done === 1)
  }

  async giveBack({ ids }: Grant): Promise<void> {
    await this.runtime.steps.surely(this.key, (note) => this.release(ids, note), { kept: LONGEST_UNDO })
  }
}
