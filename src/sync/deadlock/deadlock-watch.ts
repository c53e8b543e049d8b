import type { Deadlock } from '../../api/deadlock.js'
import type { Timer } from '../../base/clock.js'
import type { Runtime } from '../../core/client/runtime.js'
import { LONG } from '../../core/listing/locks-to-publish.js'
import { NestedWaitsToPublish, type OwnWait } from '../../core/listing/nested-waits-to-publish.js'
import { NestedWaitsPublisher } from '../../core/listing/nested-waits-publisher.js'
import type { ListHome } from '../listing/listed-lock.js'
import { VictimClaims } from './victim-claims.js'
import { CycleProof } from './cycle-proof.js'
import { byVictim, victimOf } from './choose-victim.js'
import { deadlockError, describe, lineOf } from './deadlock-report.js'
import type { Proven } from './cycle-proof.js'
import { WaitGraphReader } from './wait-graph-reader.js'
import type { Cycle } from './wait-graph.js'

/** ms. How often a client looks at its own calls, and tells others that it has, while one of them has waited for a second. */
const BEAT = 250
/** ms. How often it follows them, while nothing is different. */
const FOLLOWS = 500
/** How many deadlocks it remembers having reported. */
const REMEMBERS = 1000

/** Finds calls that wait for one another: those of this client, by what all clients say about theirs. Calls that wait for less than a second cost nothing. */
export class DeadlockWatch {
  readonly #home: ListHome
  readonly #own: NestedWaitsToPublish
  readonly #publisher: NestedWaitsPublisher
  readonly #proof = new CycleProof()
  readonly #claims: VictimClaims
  readonly #told = new Set<string>()
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #ended = false
  #followsAt = -Infinity

  /** Undefined: nothing is looked for. */
  static of(home: ListHome, shown: boolean): DeadlockWatch | undefined {
    return shown && home.runtime.options.deadlocks !== 'off' ? new DeadlockWatch(home) : undefined
  }

  private constructor(home: ListHome) {
    const { runtime } = home
    this.#home = home
    this.#own = new NestedWaitsToPublish(runtime, runtime.options.deadlocks === 'break')
    this.#publisher = new NestedWaitsPublisher(runtime)
    this.#claims = new VictimClaims(runtime)
    runtime.nested.begun = () => this.#arm(LONG)
  }

  get #runtime(): Runtime {
    return this.#home.runtime
  }

  get #now(): number {
    return this.#runtime.options.clock.monotonic()
  }

  #arm(ms: number): void {
    if (this.#timer !== undefined || this.#running !== undefined || this.#ended) return
    const due = (): void => {
      this.#timer = undefined
      this.#running = this.#tick()
        .catch(() => this.#proof.clear())
        .finally(() => this.#ticked())
    }
    this.#timer = this.#runtime.options.clock.setTimer(due, ms, { background: true })
  }

  #ticked(): void {
    this.#running = undefined
    const { nested } = this.#runtime
    if (nested.size > 0) this.#arm(Math.max(BEAT, nested.oldest + LONG - this.#now))
    // What is published goes, even if no call waits any more.
    else if (this.#publisher.used) this.#arm(BEAT)
  }

  async #tick(): Promise<void> {
    if (!this.#runtime.link.isUp) return
    const own = await this.#own.lookInTime(() => this.#now)
    const changed = await this.#publish(own)
    if (own.length === 0) this.#proof.clear()
    else if (changed || this.#proof.pending || this.#now >= this.#followsAt) await this.#follow(own)
  }

  /** If others cannot see the calls of this client, it may still see theirs. */
  #publish(own: readonly OwnWait[]): Promise<boolean> {
    return this.#publisher.write(own.map(({ told }) => told)).catch(() => false)
  }

  async #follow(own: readonly OwnWait[]): Promise<void> {
    this.#followsAt = this.#now + FOLLOWS
    const { fresh, proven } = await this.#look(own)
    const again = fresh ? await this.#look(await this.#own.lookInTime(() => this.#now)) : undefined
    const all = [...proven, ...(again?.proven ?? [])]
    for (const one of [...all].sort(byVictim)) await this.#found(one)
  }

  async #look(own: readonly OwnWait[]): Promise<{ readonly proven: readonly Proven[]; readonly fresh: boolean }> {
    const walk = new WaitGraphReader(this.#home, own)
    await walk.run()
    return this.#proof.seen(walk, this.#runtime.options.id)
  }

  async #found({ id, cycle }: Proven): Promise<void> {
    if (this.#ended || !this.#stands(cycle)) return
    const victim = victimOf(cycle)
    const ends = victim?.own !== undefined && (await this.#claims.claim(id))
    if (this.#told.has(id) && !ends) return
    const deadlock = await describe(this.#home, cycle, victim)
    if (!this.#told.has(id)) this.#tell(id, deadlock)
    if (ends && this.#stands(cycle)) victim.own.reject(deadlockError(victim, deadlock))
  }

  /** False: a call of this client that was part of it has ended, perhaps as the victim of another cycle. */
  #stands(cycle: Cycle): boolean {
    const waits = new Set(this.#runtime.nested.all)
    return cycle.every(({ wait: { own } }) => own === undefined || waits.has(own))
  }

  #tell(id: string, deadlock: Deadlock): void {
    const message = `deadlock: ${lineOf(deadlock)}`
    // An operator looks at the warnings, and there must not be ever more of them.
    if (this.#told.size === 0) this.#runtime.warn(message)
    else this.#runtime.options.logger.warn(message)
    this.#told.add(id)
    const [oldest] = this.#told
    if (this.#told.size > REMEMBERS && oldest !== undefined) this.#told.delete(oldest)
    this.#runtime.lockEvents.deadlocked(deadlock)
  }

  /** The client closes. Never rejects. */
  async end(): Promise<void> {
    this.#ended = true
    this.#timer?.cancel()
    await this.#running
    await Promise.allSettled([this.#publisher.clear(), this.#claims.end()])
  }
}
