import { type ReadLabels, whoIs } from '../../core/gate/gated-lock.js'
import type { Runtime } from '../../core/client/runtime.js'
import { enclosing } from '../../base/scope.js'
import { ClosedError, DeadlockError, NotOwnerError } from '../../errors.js'
import type { Election, Leader, Leaders, LeadOptions, ObserveOptions, Term } from '../../api/election.js'
import { checkLease, checkOptions, checkSignal, OPTIONS, usingArgs } from '../../check-arguments.js'
import type { NumberedLock } from '../fenced-lock/fenced-lock.js'
import type { Topics } from '../topic/topics.js'
import { LeadLoop } from './lead-loop.js'
import { LeaderRecord, type Reading } from './leader-record.js'
import { Observer } from './observer.js'
import type { LeaderTerm, Times } from './leader-term.js'
import { marginOf } from '../../core/hold/safety-margin.js'
import { quoted } from '../../plain-text.js'

/** What an election needs from its client. */
export interface ElectionHome {
  readonly runtime: Runtime
  readonly topics: Topics
  readonly readLabels: ReadLabels
  readonly closing: AbortSignal
  /** The terms of this client. */
  readonly reigns: Set<LeaderTerm>
}

/** With a shorter lease, there is no moment at which a leader could give up, ms. */
const SHORTEST = 4

/** Checks the lease of a leader, and how long it leads without a renewal. */
const checkTimes = (lease: number, renewDeadline = Math.floor((lease * 2) / 3)): Times => {
  if (lease < SHORTEST)
    throw new RangeError(
      `lease must be at least ${SHORTEST} milliseconds, so that a leader can renew it before it ends, not ${lease}`,
    )
  checkLease(renewDeadline, 'renewDeadline')
  const least = Math.floor(0.4 * lease)
  const most = Math.ceil(lease - marginOf(lease)) - 1
  if (renewDeadline > least && renewDeadline <= most) return { lease, renewDeadline }
  const why = `with a lease of ${lease}, which is renewed after a third, it must be from ${least + 1} to ${most}`
  throw new RangeError(`renewDeadline cannot be ${renewDeadline}: ${why}`)
}

const checkLead = <V>(options: LeadOptions<V> | undefined, watchdog: number): LeadOptions<V> & { times: Times } => {
  const checked = checkOptions(options, OPTIONS.lead)
  if (checked.signal !== undefined) checkSignal(checked.signal, 'signal')
  const lease = checked.lease === undefined ? watchdog : checkLease(checked.lease)
  return { ...checked, times: checkTimes(lease, checked.renewDeadline) }
}

/** One leader at a time, on the fenced lock of the same name. */
export class LockElection<V> implements Election<V> {
  readonly name: string
  readonly #home: ElectionHome
  readonly #lock: NumberedLock
  readonly #leadership: LeaderRecord

  constructor(home: ElectionHome, lock: NumberedLock) {
    this.name = lock.name
    this.#home = home
    this.#lock = lock
    this.#leadership = new LeaderRecord(home.runtime, lock.name, lock.key)
  }

  async lead<T>(
    first: LeadOptions<V> | undefined | ((term: Term) => Promise<T> | T),
    second?: (term: Term) => Promise<T> | T,
  ): Promise<T | undefined> {
    const [options, work] = usingArgs<LeadOptions<V>, (term: Term) => Promise<T> | T>(first, second)
    const { runtime, closing, reigns } = this.#home
    const { value, signal, times } = checkLead(options, runtime.watched.lease)
    if (closing.aborted) throw new ClosedError(this.name)
    if (this.#isInside) throw new DeadlockError(this.name, 'the enclosing work leads it until this code ends')
    return new LeadLoop<T>({
      ...{ runtime, lock: this.#lock, leadership: this.#leadership, times, work },
      value: this.#leadership.write(value),
      stops: signal === undefined ? [closing] : [signal, closing],
      began: (reign) => {
        reigns.add(reign)
        return () => reigns.delete(reign)
      },
    }).run()
  }

  async leader(): Promise<Leader<V> | undefined> {
    const { runtime } = this.#home
    const reading = await runtime.untilClosed(() => this.#leadership.read(), this.name)
    return reading && this.#shown(reading)
  }

  observe(options?: ObserveOptions): Leaders<V> {
    const { signal } = checkOptions(options, OPTIONS.observe)
    if (signal !== undefined) checkSignal(signal, 'signal')
    const { topics } = this.#home
    const shown = (reading: Reading): Promise<Leader<V>> => this.#shown(reading)
    return new Observer<V>({ name: this.name, topics, leadership: this.#leadership, signal, shown })
  }

  async proclaim(value: V): Promise<void> {
    const reign = this.#reigns.find((one) => one.working)
    if (reign === undefined) throw new NotOwnerError(this.name, 'this client, which does not lead')
    await reign.proclaim(this.#leadership.write(value))
  }

  async resign(): Promise<boolean> {
    const led = this.#reigns.filter((reign) => reign.ended() === undefined)
    for (const reign of led)
      reign.end('resigned', new DOMException(`${quoted(this.name)}: the leader resigned`, 'AbortError'))
    if (!this.#isInside) await Promise.all(led.map(({ settled }) => settled))
    return led.length > 0
  }

  /** Whether this code runs inside a leader's work. */
  get #isInside(): boolean {
    return enclosing((lock) => this.#lock.isSame(lock)) !== undefined
  }

  get #reigns(): readonly LeaderTerm[] {
    return [...this.#home.reigns].filter(({ hold }) => hold.name === this.name)
  }

  async #shown({ client, term, value, since }: Reading): Promise<Leader<V>> {
    return { term, value: value as V | undefined, ...(await whoIs(this.#home.readLabels, client)), since }
  }
}
