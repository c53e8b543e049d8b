import { EngineError } from '../../errors.js'
import { slotOf } from '../../keys.js'
import { type Clock, type Moment, momentOf, steadyMoment, type Timer } from '../../base/clock.js'
import type { RenewScript } from '../protocol/protocol.js'
import type { Runner } from '../protocol/runner.js'
import { DueHeap } from './due-heap.js'
import type { Tenure } from './tenure.js'

/** How many holds one script call renews, each as much work as that of a plain lock. */
const BATCH = 250
/** How many one tick sends at most: the event loop must not stand still for all that are due at once. */
const TURN = 8 * BATCH
/** While anything is held, the two clocks are compared this often: a suspended machine stops the timers too. */
const LOOK = 1000
/** What a whole batch may be refused for the sake of one of its keys: while a slot moves, a node has some of them only. */
const OF_ONE_KEY: ReadonlySet<string> = new Set(['NOPERM', 'CROSSSLOT', 'SERVER', 'TRYAGAIN', 'WRONG_KIND'])
/** Into so many parts a batch goes that got a strange answer, and each part again, until whose it is stands alone: 33 calls for one of 250. */
const PARTS = 16
/** How far the clocks may part between two looks before every hold is looked at. */
const JUMP = 250
/** From here on the wall clock has not been set right a little: the machine stood still. */
const SLIP = 5

export interface WatchdogOptions {
  readonly clock: Clock
  readonly runner: Pick<Runner, 'run'>
  /** Whether one script call must keep to one slot. */
  readonly cluster: boolean
  /** The lease that it renews to. */
  readonly lease: number
  /** A renewal is not kept until the connection is back: by then its hold may be over. */
  isUp(): boolean
}

/**
 * Renews everything that a client holds, and tells in time what could not be renewed: one timer, due holds in batches.
 * A batch that fails is tried again until the deadlines of its holds, not at their next third.
 */
export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #heap = new DueHeap<Tenure>()
  #timer: Timer | undefined
  #timerDue = Infinity
  #looked: Moment
  /** When the server may have become another, and how that was noticed. */
  #questioned: Moment
  #why: unknown

  constructor(options: WatchdogOptions) {
    this.#options = options
    this.#questioned = this.#looked = steadyMoment(options.clock)
  }

  get tenures(): readonly Tenure[] {
    return this.#heap.all
  }

  add(tenure: Tenure): void {
    if (this.#heap.size === 0) this.#looked = tenure.proven
    // It was asked for before the server may have become another.
    if (tenure.order < this.#questioned.order) {
      tenure.question(this.#questioned, this.#why)
      tenure.askAgain = this.#questioned.mono
    }
    this.#schedule(tenure)
    this.#heap.add(tenure)
    this.#arm()
  }

  remove(tenure: Tenure): void {
    // The timer runs on, once: most who hold one lock after another would set it up for each.
    if (tenure.heapIndex !== -1) this.#heap.remove(tenure)
  }

  /** Its terms or its deadline changed. */
  moved(tenure: Tenure): void {
    if (tenure.heapIndex === -1) return
    this.#schedule(tenure)
    this.#heap.moved(tenure)
    this.#arm()
  }

  /** For how many ms the server has it, -2 when it is lost; changes nothing there. */
  async leftOf(tenure: Tenure): Promise<number> {
    const [left = -2] = await this.#run([tenure], 0)
    return left
  }

  /** It is asked about at that time, or soon after, whatever is answered before. */
  askAt(tenure: Tenure, time: number): void {
    tenure.askAgain = Math.min(tenure.askAgain, time)
    this.moved(tenure)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerDue = Infinity
  }

  /** Another server may answer from now on: nothing is certain until it has said so of each, and all are asked at once. */
  question(cause: unknown): void {
    const now = (this.#questioned = momentOf(this.#options.clock))
    this.#why = cause
    for (const tenure of [...this.#heap.all]) {
      tenure.question(now, cause)
      tenure.askAgain = now.mono
      this.moved(tenure)
    }
  }

  /** Asks the server at once about everything that is in doubt. */
  ask(): void {
    for (const tenure of [...this.#heap.all]) {
      if (tenure.status() !== 'uncertain' || tenure.renewing) continue
      tenure.askAgain = this.#options.clock.monotonic()
      this.moved(tenure)
    }
  }

  #schedule(tenure: Tenure): void {
    const regular = tenure.failures === 0 ? this.#upkeepAt(tenure) : Infinity
    // Of a trial its confirmation tells, and what a renewal proved that might take off again.
    const idle = !tenure.renewing && !tenure.trial
    tenure.mayRenewAt = idle ? Math.min(tenure.askAgain, regular - this.#ahead(tenure)) : Infinity
    const renewAt = idle ? Math.min(tenure.askAgain, regular) : Infinity
    tenure.due = Math.min(renewAt, tenure.lostAt, tenure.lapseAt, this.#overdueAt(tenure))
  }

  /** When it is to be renewed, or only asked about: it may have been released by force, and others may have shortened the key. */
  #upkeepAt({ watched, lease, lastsUntil, provenAt, protocol }: Tenure): number {
    const third = lease / 3
    if (!watched) return provenAt + (protocol.shared === true ? Math.min(third, this.#options.lease / 3) : third)
    // That it was found to be ours since is no renewal; a longer lease of another level is no reason not to look.
    return Math.min(lastsUntil - 2 * third, provenAt + third)
  }

  /** When a renewal that is on its way becomes a doubt. */
  #overdueAt(tenure: Tenure): number {
    return tenure.renewing && tenure.watched && !tenure.trial && !tenure.doubtful
      ? tenure.lastsUntil - tenure.lease / 2
      : Infinity
  }

  #arm(): void {
    const first = this.#heap.first
    if (first === undefined || first.due >= this.#timerDue) return
    const { clock } = this.#options
    const now = clock.monotonic()
    const due = Math.min(first.due, now + LOOK)
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
    const now = steadyMoment(this.#options.clock)
    const apart = now.wall - this.#looked.wall - (now.mono - this.#looked.mono)
    this.#looked = now
    if (apart > SLIP) this.#slept(apart, now.mono)
    if (Math.abs(apart) > JUMP) this.ask()
    const due: Tenure[] = []
    for (let first = this.#heap.first; first !== undefined; first = this.#heap.first) {
      if (first.lostAt <= now.mono) {
        first.status()
        this.remove(first)
      } else if (first.lapseAt <= now.mono) {
        first.lapseDue()
        this.moved(first)
      } else if (this.#overdueAt(first) <= now.mono) {
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

  /** What is due within the next thirtieth of the lease goes along: fewer and fuller batches. */
  #ahead({ lease }: Tenure): number {
    return Math.min(lease, this.#options.lease) / 30
  }

  /** Every deadline is nearer than the monotonic clock, and with it every timer, had it. */
  #slept(ms: number, now: number): void {
    for (const tenure of [...this.#heap.all]) {
      tenure.slept(ms, now)
      this.#schedule(tenure)
      this.#heap.moved(tenure)
    }
  }

  /** What a renewal gives; 0: it is only asked about. */
  #given({ watched, lease }: Tenure): number {
    return watched ? lease : 0
  }

  /** Holds that one script call can renew together. */
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
    for (const tenure of batch) this.#done(tenure)
  }

  /** Of each ms left, -2 lost. */
  #run(batch: readonly Tenure[], given: number): Promise<readonly number[]> {
    const { renewal } = (batch[0] as Tenure).protocol
    const keys = batch.flatMap(({ protocol, wire }) => protocol.renewalKeys?.(wire) ?? protocol.key)
    const owners = batch.map(({ protocol, wire }) => protocol.renewalWords?.(wire) ?? wire)
    return this.#options.runner.run(renewal, keys, [given, ...owners])
  }

  #answered(tenure: Tenure, sent: Moment, left: number): void {
    if (tenure.over) return
    if (left === -2) {
      tenure.lose('somebody else released it, or its key was deleted', false)
      return
    }
    tenure.failures = 0
    tenure.batchLimit = Infinity
    const counts = tenure.found(sent, left)
    // What was to be asked about after this was sent still is.
    if (!counts) tenure.askAgain = this.#options.clock.monotonic()
    else if (tenure.askAgain <= sent.mono) tenure.askAgain = Infinity
    if (counts && tenure.watched) tenure.renewed()
  }

  /** `error`: undefined where it may be another's. */
  #failed(tenure: Tenure, error: unknown): void {
    tenure.failures++
    const backoff = Math.min(25 * 2 ** tenure.failures, tenure.lease / 10)
    tenure.askAgain = this.#options.clock.monotonic() + backoff
    if (error !== undefined) tenure.doubt(error)
  }

  #done(tenure: Tenure): void {
    tenure.renewing = false
    this.moved(tenure)
  }
}
