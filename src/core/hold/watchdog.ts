import { EngineError } from '../../errors.js'
import { slotOf } from '../../keys.js'
import { type Clock, type Moment, momentOf, steadyMoment, type Timer } from '../../base/clock.js'
import type { RenewScript } from '../protocol/lock-protocol.js'
import type { ScriptRunner } from '../protocol/script-runner.js'
import { isMoving } from '../server/transient-or-unsure-errors.js'
import { DueHeap } from './due-heap.js'
import type { RenewalThreadHandle } from './renewal-thread-handle.js'
import { COMPARED_EVERY } from './clocks-apart.js'
import { SuspensionDetector } from './suspension-detector.js'
import { early, overdueAt, pauseAfterFailure, upkeepAt } from './when-to-renew.js'
import type { Tenure } from './tenure.js'

/** How many holds one script call renews, each as much work as a plain lock. */
const BATCH = 250
/** How many renewals one tick sends at most, so that the event loop does not stand still when many are due at once. */
const TURN = 8 * BATCH
/** Errors that one key can cause for a whole batch. While a slot moves, a node has only some of the keys. */
const OF_ONE_KEY: ReadonlySet<string> = new Set(['NOPERM', 'CROSSSLOT', 'SERVER', 'TRYAGAIN', 'WRONG_KIND'])
/** A batch with a strange answer is split into this many parts, and each part again, until the cause stands alone: 33 calls for one of 250. */
const PARTS = 16

/** What a renewal is sent for: a tenure, or what another client holds. */
type Renewable = Pick<Tenure, 'protocol' | 'wire'>

export interface WatchdogOptions {
  readonly clock: Clock
  readonly runner: Pick<ScriptRunner, 'run'>
  /** Whether all keys of one script call must be in one slot. */
  readonly cluster: boolean
  /** The lease to which it renews. */
  readonly lease: number
  /** False: send no renewal, and do not queue it until the connection is back. By then its hold may be over. */
  isUp(): boolean
  /** Called when it has a hold to look after, and had none before. */
  stirred?(): void
  /** When it is time to renew a hold. Default: when a third of its lease is over. */
  upkeepAt?: typeof upkeepAt
  /** A thread that renews the holds if this one cannot. */
  readonly thread?:
    Pick<RenewalThreadHandle, 'beat' | 'added' | 'changed' | 'removed' | 'startAgain' | 'end'> | undefined
}

/**
 * Renews all holds of a client, and reports in time those that could not be renewed. One timer; due holds go in batches.
 * If a batch fails, it is retried soon, until the deadlines of its holds, and not only when a third of the lease is over again.
 */
export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #heap = new DueHeap<Tenure>()
  #timer: Timer | undefined
  #timerDue = Infinity
  readonly #suspension: SuspensionDetector
  /** When another server may have become the master, and how that was noticed. */
  #questioned: Moment
  #why: unknown

  constructor(options: WatchdogOptions) {
    this.#options = options
    this.#questioned = steadyMoment(options.clock)
    this.#suspension = new SuspensionDetector(options.clock, this.#questioned)
  }

  get tenures(): readonly Tenure[] {
    return this.#heap.all
  }

  add(tenure: Tenure): void {
    if (this.#heap.size === 0) {
      this.#suspension.beginAt(tenure.proven)
      this.#options.stirred?.()
    }
    // It was asked for before another server may have become the master.
    if (tenure.order < this.#questioned.order) {
      tenure.question(this.#questioned, this.#why)
      tenure.askAgain = this.#questioned.mono
    }
    this.#schedule(tenure)
    this.#heap.add(tenure)
    this.#arm()
    this.#options.thread?.added(tenure)
  }

  remove(tenure: Tenure): void {
    // The timer is left to fire once more: otherwise, a caller that holds one lock after another would set it for each.
    if (tenure.heapIndex !== -1) this.#heap.remove(tenure)
    this.#options.thread?.removed(tenure)
  }

  /** The terms or the deadline have changed. */
  moved(tenure: Tenure): void {
    if (tenure.heapIndex === -1) return
    this.#schedule(tenure)
    this.#heap.moved(tenure)
    this.#arm()
    this.#options.thread?.changed(tenure)
  }

  /** How many ms the tenure has left on the server, -2 if it is lost. Makes no hold longer. */
  async leftOf(tenure: Tenure): Promise<number> {
    return (await this.#run([tenure], 0))[0] ?? -2
  }

  /** Sets the time left of this hold, whichever client has it, without shortening it. False: that owner does not hold it. */
  async extend(hold: Renewable, lease: number): Promise<boolean> {
    // It has no end already, and a renewal would give it one.
    if ((await this.#run([hold], 0))[0] === -1) return true
    return ((await this.#run([hold], lease))[0] ?? -2) !== -2
  }

  /** Asks about the tenure at that time or soon after, whatever other answers come before. */
  askAt(tenure: Tenure, time: number): void {
    tenure.askAgain = Math.min(tenure.askAgain, time)
    this.moved(tenure)
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerDue = Infinity
    await this.#options.thread?.end()
  }

  /** Another server may answer from now on: every hold is in doubt until that server has confirmed it, and all are asked about at once. */
  question(cause: unknown): void {
    const now = (this.#questioned = momentOf(this.#options.clock))
    this.#why = cause
    for (const tenure of [...this.#heap.all]) {
      tenure.hear()
      tenure.question(now, cause)
      tenure.askAgain = now.mono
      this.moved(tenure)
    }
    this.#options.thread?.startAgain()
  }

  /** Asks the server at once about all holds in doubt. */
  ask(): void {
    for (const tenure of [...this.#heap.all]) {
      if (tenure.status() !== 'uncertain' || tenure.renewing) continue
      tenure.askAgain = this.#options.clock.monotonic()
      this.moved(tenure)
    }
  }

  #schedule(tenure: Tenure): void {
    const { lease, upkeepAt: usual = upkeepAt } = this.#options
    const regular = tenure.failures === 0 ? usual(tenure, lease) : Infinity
    // The answer about a trial is its confirmation, which could shorten what a renewal has proven.
    const idle = !tenure.renewing && !tenure.trial
    tenure.mayRenewAt = idle ? Math.min(tenure.askAgain, regular - early(tenure, lease)) : Infinity
    const renewAt = idle ? Math.min(tenure.askAgain, regular) : Infinity
    tenure.due = Math.min(renewAt, tenure.lostAt, tenure.lapseAt, overdueAt(tenure))
  }

  #arm(): void {
    const first = this.#heap.first
    if (first === undefined || first.due >= this.#timerDue) return
    const { clock } = this.#options
    const now = clock.monotonic()
    const due = Math.min(first.due, now + COMPARED_EVERY)
    if (due >= this.#timerDue) return
    this.#timer?.cancel()
    this.#timerDue = due
    this.#timer = clock.setTimer(
      () => {
        this.#timerDue = Infinity
        this.#sendDue()
      },
      Math.max(0, due - now),
      { background: true },
    )
  }

  #sendDue(): void {
    const { now, missed, jumped } = this.#suspension.compare()
    if (missed > 0) this.#slept(missed, now.mono)
    if (jumped) this.ask()
    this.#options.thread?.beat()
    const due: Tenure[] = []
    for (let first = this.#heap.first; first !== undefined; first = this.#heap.first) {
      if (first.hear()) this.moved(first)
      else if (first.lostAt <= now.mono) {
        if (first.status() === 'lost') this.remove(first)
        else this.moved(first)
      } else if (first.lapseAt <= now.mono) {
        first.lapseDue()
        this.moved(first)
      } else if (overdueAt(first) <= now.mono) {
        first.doubt(undefined)
        this.moved(first)
      } else if (first.mayRenewAt <= now.mono) {
        first.renewing = true
        due.push(first)
        this.moved(first)
        if (due.length === TURN) break
      } else break
    }
    for (const batch of this.#batches(due)) void this.#renew(batch)
    this.#arm()
  }

  /** The monotonic clock, and so every timer, has missed `ms`: every deadline is that much nearer. */
  #slept(ms: number, now: number): void {
    for (const tenure of [...this.#heap.all]) {
      tenure.slept(ms, now)
      this.#schedule(tenure)
      this.#heap.moved(tenure)
    }
  }

  /** The lease that a renewal sets; 0: only ask. */
  #given({ watched, lease }: Tenure): number {
    return watched ? lease : 0
  }

  /** Groups holds that one script call can renew together. */
  #batches(due: readonly Tenure[]): Tenure[][] {
    const batches: Tenure[][] = []
    const open = new Map<RenewScript, Map<string, { readonly batch: Tenure[]; weight: number }>>()
    for (const tenure of due) {
      const { protocol } = tenure
      const { renewal, key } = protocol
      const weight = protocol.weight?.(tenure.level) ?? 1
      const given = this.#given(tenure)
      const alike = open.get(renewal) ?? new Map<string, { readonly batch: Tenure[]; weight: number }>()
      open.set(renewal, alike)
      const what = `${given} ${this.#options.cluster ? slotOf(key) : 0} ${tenure.batchLimit}`
      const last = alike.get(what)
      if (last !== undefined && last.weight + weight <= BATCH && last.batch.length < tenure.batchLimit) {
        last.batch.push(tenure)
        last.weight += weight
      } else {
        const batch = [tenure]
        batches.push(batch)
        alike.set(what, { batch, weight })
      }
    }
    return batches
  }

  async #renew(batch: readonly Tenure[]): Promise<void> {
    const first = batch[0] as Tenure
    const { clock } = this.#options
    const given = this.#given(first)
    const sent = momentOf(clock)
    try {
      if (!this.#options.isUp()) throw new EngineError('OFFLINE', 'not connected', { target: first.name })
      const renewed = await this.#run(batch, given)
      batch.forEach((tenure, i) => this.#answered(tenure, sent, renewed[i] ?? -2))
    } catch (error) {
      if (batch.length > 1 && error instanceof EngineError && OF_ONE_KEY.has(error.code)) {
        await Promise.all(batch.map((tenure) => this.#renew([tenure])))
        return
      }
      const strange = batch.length > 1 && error instanceof EngineError && error.code === 'BAD_REPLY'
      for (const tenure of batch) {
        if (strange) tenure.batchLimit = Math.ceil(batch.length / PARTS)
        this.#failed(tenure, strange ? undefined : error)
      }
    }
    for (const tenure of batch) {
      tenure.renewing = false
      this.moved(tenure)
    }
  }

  /** For each hold, the ms left; -2: lost. */
  #run(batch: readonly Renewable[], given: number): Promise<readonly number[]> {
    const first = batch[0] as Renewable
    const keys = batch.flatMap(({ protocol, wire }) => protocol.renewalKeys?.(wire) ?? protocol.key)
    const owners = batch.map(({ protocol, wire }) => protocol.renewalWords?.(wire) ?? wire)
    const run = this.#options.runner.run(first.protocol.renewal, keys, [given, ...owners])
    if (batch.length > 1 || first.protocol.renewAlone === undefined) return run
    return run.catch((trouble: unknown) => {
      if (!isMoving(trouble)) throw trouble
      return first.protocol.renewAlone?.(first.wire, given) ?? []
    })
  }

  #answered(tenure: Tenure, sent: Moment, left: number): void {
    if (tenure.over) return
    if (left === -2) {
      tenure.lose('it was released elsewhere, or its key was deleted', false)
      return
    }
    tenure.failures = 0
    tenure.batchLimit = Infinity
    const counts = tenure.found(sent, left)
    // If a question was scheduled after this one was sent, it is still due.
    if (!counts) tenure.askAgain = this.#options.clock.monotonic()
    else if (tenure.askAgain <= sent.mono) tenure.askAgain = Infinity
    if (counts && tenure.watched) tenure.renewed()
  }

  /** `error`: undefined if another hold of the batch may have caused it. */
  #failed(tenure: Tenure, error: unknown): void {
    tenure.failures++
    tenure.askAgain = this.#options.clock.monotonic() + pauseAfterFailure(tenure)
    if (error !== undefined) tenure.doubt(error)
  }
}
