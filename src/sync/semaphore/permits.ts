import type { Runner } from '../../core/protocol.js'
import type { Waiter } from '../../core/queue.js'
import { KEPT } from '../../core/requests.js'
import type { Patience } from '../../core/request.js'
import type { Runtime } from '../../core/runtime.js'
import { Speaker } from '../../core/speaker.js'
import { Strangers } from '../../core/strangers.js'
import { type Answer, type Passage, unlessSetUp } from '../../core/passage.js'
import {
  permitsAmounts,
  permitsDeadlines,
  permitsGrants,
  permitsQueue,
  permitsTurn,
  semaphoreChannel,
} from '../../keys.js'
import {
  semaphoreAcquire,
  semaphoreAdd,
  semaphoreAsk,
  semaphoreLeave,
  semaphoreRetract,
  semaphoreTrySetPermits,
} from '../../lua/scripts.gen.js'

export interface PermitsRequest extends Patience {
  readonly permits: number
}

type PermitsWaiter = Waiter<PermitsRequest, number>

/** A place that nobody shows to be alive goes by itself after so long, ms. */
const ALLOWANCE = 10_000
/** Among ours alone whoever is first is mostly served sooner, ms: it need not listen to others. */
const PATIENT = 30
/** Whoever is first and hears no messages asks again each so many ms. */
const RESTLESS = 99

/**
 * The permits of a semaphore, as those see them who take some. Those of one process who wait stand in the line on the server once, for
 * as many permits as the first of them wants.
 */
export class Permits implements Passage<PermitsRequest, number> {
  readonly name: string
  readonly kind = { name: 'semaphore' }
  readonly key: string
  /** Where the process hears that it was granted permits. */
  readonly channel: string
  /** Where Redisson tells of releases. */
  readonly told: string
  readonly #runtime: Runtime
  readonly #runner: Runner
  readonly #strangers: Strangers
  readonly #line: readonly [queue: string, deadlines: string, amounts: string, turn: string]
  /** By what name the process stands in the line; whether it may do so. */
  #owner: string | undefined
  #stands = false
  #first = false

  constructor(runtime: Runtime, name: string, key: string) {
    this.#runtime = runtime
    this.#runner = new Speaker(runtime, name)
    this.name = name
    this.key = key
    this.channel = `${permitsGrants(key)}:${runtime.options.id}`
    this.told = semaphoreChannel(key)
    this.#line = [permitsQueue(key), permitsDeadlines(key), permitsAmounts(key), permitsTurn(key)]
    this.#strangers = new Strangers({ runtime }, { channel: this.told }, () => {
      runtime.turnstiles.at(this)?.call()
    })
  }

  get #voices(): [channel: string, grants: string, publish: string] {
    return [this.told, permitsGrants(this.key), this.#runner.publishCommand]
  }

  get #hears(): boolean {
    return this.#runtime.wakeups.hears(this.channel)
  }

  /** 1: the server may count us among those who listen where Redisson's do; 2: we hear of no grants; 3: it does not know of all who listen. */
  get #own(): 0 | 1 | 2 | 3 {
    if (!this.#runner.countsAll) return 3
    if (this.#stands && !this.#hears) return 2
    return this.#runner.mayBeCounted(this.told) ? 1 : 0
  }

  async ask(waiters: readonly PermitsWaiter[], hears: boolean): Promise<Answer<PermitsRequest, number>> {
    const { requests } = this.#runtime
    const note = requests.note(this.key)
    const wanted = waiters.map(({ request }) => request.permits)
    const patient = hears || this.#stands ? waiters.find(({ request }) => request.wait > 0) : undefined
    try {
      const calls = await (patient === undefined ? this.#take(note, wanted) : this.#standIn(note, wanted, patient))
      if (calls > 0) requests.forget(note)
      if (calls === -1) return { granted: [], left: -1, vain: unlessSetUp(this.name, 'permits are') }
      return { granted: wanted.slice(0, calls), left: this.#first && !this.#hears ? RESTLESS : -1 }
    } catch (error) {
      const keys = [this.key, note, ...this.#line] as const
      requests.undo(error, () =>
        this.#runner.run(semaphoreRetract, keys, [this.#runtime.options.id, this.#own, ...this.#voices]),
      )
      throw error
    }
  }

  /** Of what nobody in the line comes for first. */
  async #take(note: string, wanted: readonly number[]): Promise<number> {
    const [queue, deadlines, , turn] = this.#line
    const keys = [this.key, note, queue, deadlines, turn] as const
    const calls = await this.#runner.take(semaphoreAcquire, keys, wanted, (served) => served > 0)
    // It may be the turn of somebody who is dead.
    return calls === -2 ? this.#standIn(note, wanted, undefined) : calls
  }

  /** `patient`: who waits in the line if it has to; nobody does: it may stand there all the same. */
  async #standIn(note: string, wanted: readonly number[], patient: PermitsWaiter | undefined): Promise<number> {
    const owner = (this.#owner ??= this.#runtime.nextWire())
    this.#stands ||= patient !== undefined
    const joins = patient?.request.permits ?? 0
    const keys = [this.key, note, ...this.#line] as const
    const args = [owner, joins, this.#strangers.news, this.#own, ...this.#voices, ...wanted] as const
    const [calls, first, open, share] = await this.#runner.take(semaphoreAsk, keys, args, ([served]) => served > 0)
    if (calls > 0 && owner === this.#owner) this.#stands = false
    this.#first = owner === this.#owner && this.#stands && first > 0
    this.#hear(this.#first ? first : 0, open, share)
    return calls
  }

  /** Whoever is first in the line listens to what Redisson's tell each other, once it waits for longer, or they were seen. */
  #hear(first: number, open: number, share: number): void {
    if (first === 0) this.#strangers.leave()
    else if (first === 1 && open === 0) this.#strangers.expect(PATIENT)
    else this.#strangers.attend(undefined, open, share)
  }

  placeToLeave(): string | undefined {
    const [owner, stands] = [this.#owner, this.#stands]
    this.#strangers.leave()
    // Whoever comes now has another.
    this.#owner = undefined
    this.#stands = this.#first = false
    return stands ? owner : undefined
  }

  leaveLine(): Promise<unknown> | undefined {
    const owner = this.placeToLeave()
    return owner === undefined ? undefined : this.#leave(owner)
  }

  #leave(owner: string): Promise<unknown> {
    const keys = [this.key, ...this.#line] as const
    const left = this.#runtime.insist(
      () => this.#runner.run(semaphoreLeave, keys, [owner, this.#own, ...this.#voices]),
      this.#runtime.options.clock.monotonic() + ALLOWANCE,
    )
    this.#runtime.track(left)
    return left
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

  async make(permits: number, expiry: number, note: string): Promise<boolean> {
    const args = [permits, expiry, this.#runtime.options.id, this.#own, ...this.#voices] as const
    return (await this.#runner.run(semaphoreTrySetPermits, [this.key, note, ...this.#line], args)) === 1
  }

  /** False: there is no such semaphore, and it is not to be made. */
  async add(amount: number, always: boolean, note: string): Promise<boolean> {
    const { options, turnstiles } = this.#runtime
    const here = turnstiles.at(this)
    const visits = here?.visits() ?? 1
    const place = here?.placeToLeave()
    const args = [amount, always ? 1 : 0, place ?? options.id, this.#own, visits, ...this.#voices] as const
    let told = -1
    try {
      told = await this.#runner.run(semaphoreAdd, [this.key, note, ...this.#line], args)
      return told !== -1
    } finally {
      // Asked again, it knows of no place; and where nothing is given back it leaves none.
      if (told === -1 && place !== undefined) void this.#leave(place)
    }
  }

  async giveBack(permits: number): Promise<void> {
    if (permits === 0 || this.pass(permits)) return
    await this.#runtime.requests.surely(this.key, (note) => this.add(permits, false, note), { kept: KEPT })
  }
}
