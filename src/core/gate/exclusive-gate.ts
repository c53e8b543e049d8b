import { ClosedError } from '../../errors.js'
import { FREED, type TenureHold } from '../hold/hold.js'
import type { Tenure } from '../hold/tenure.js'
import { hearsGrants } from '../line/grant-listener.js'
import { Line } from '../line/line.js'
import { isLine } from '../protocol/line-protocol.js'
import type { LineHost } from '../waiting/gate-host.js'
import { LoneCall, type LoneHost } from '../waiting/lone-call.js'
import type { Request } from '../waiting/acquire-request.js'
import type { Waiter } from '../waiting/waiter.js'
import { Gate } from './gate.js'
import { mayPass, passesAsItIs } from './when-to-pass-on.js'
import { releaseOnServer } from './release-until-answered.js'
import { SpinWaiters } from './spin-waiters.js'
import { limitedStep, LATE } from '../waiting/limited-step-outside-queue.js'
import { PASS_TIME } from '../../script-times-and-limits.js'

/**
 * The gate of a lock that one owner at a time can hold. Only the first waiter asks the server. When a hold here ends, it is
 * passed on to the next waiter of this process without the server, within limits.
 */
export class ExclusiveGate extends Gate implements LoneHost, LineHost {
  #tenure: Tenure | undefined
  #asking: LoneCall | undefined
  /** How many releases are in progress that no caller waits for. */
  #unawaited = 0

  get tenure(): Tenure | undefined {
    return this.#tenure === undefined || this.#tenure.status() === 'lost' ? undefined : this.#tenure
  }

  protected get tenures(): readonly Tenure[] {
    return this.#tenure === undefined ? [] : [this.#tenure]
  }

  /** The first waiter in this process. */
  protected get first(): Waiter | undefined {
    return this.waiters?.first
  }

  protected take(tenure: Tenure): void {
    // The server granted the lock to a caller here, so an older hold here must have been released by force.
    this.#tenure?.verify().catch(() => undefined)
    this.#tenure = tenure
  }

  protected drop(tenure: Tenure): void {
    if (this.#tenure === tenure) this.#tenure = undefined
  }

  protected vacated(): void {
    this.waiters?.start()
    this.rested()
  }

  // ---- acquiring ---------------------------------------------------------------------------------------------------

  acquire(request: Request): Promise<TenureHold | undefined> {
    if (this.#isAlone(request)) return this.#ask(request)
    // Whatever ends meanwhile, this must stay the gate of the lock until the call is in its queue.
    this.inFlight++
    const simple = request.wait > 0 && this.tenure?.owner !== request.owner
    const joined = simple ? this.queue(request) : this.#acquire(request)
    this.inFlight--
    this.rested()
    return joined
  }

  /** True if no call here is ahead, and only an answer can end this call: no signal, no time limit. */
  #isAlone({ wait, signal, explicit }: Request): boolean {
    if (explicit || signal !== undefined || (wait > 0 && wait !== Infinity)) return false
    const unused = this.#tenure === undefined && this.waiters === undefined && this.inFlight === this.#unawaited
    return unused && !(isLine(this.protocol) && hearsGrants(this.runtime, this.protocol))
  }

  #ask(request: Request): Promise<TenureHold | undefined> {
    this.inFlight++
    return new Promise((resolve, reject) => {
      this.#asking = new LoneCall(this, request, resolve, reject)
    })
  }

  get asks(): boolean {
    return this.#asking !== undefined
  }

  answered(call: LoneCall, mustWait: boolean): void {
    this.#asking = undefined
    this.inFlight--
    if (mustWait && call.request.wait > 0) this.#contend().enterFirst(call)
    else {
      if (mustWait) call.resolve(undefined)
      this.waiters?.start()
    }
    this.rested()
  }

  #contend(): Line | SpinWaiters {
    return (this.waiters ??= isLine(this.protocol) ? new Line(this, this.protocol) : new SpinWaiters(this))
  }

  /** For an owner that may hold the lock already, and for a single try. */
  #acquire(request: Request): Promise<TenureHold | undefined> {
    const since = this.clock.monotonic()
    return this.staying(async () => {
      const again = await this.enterAgain(request)
      if (again !== undefined) return again === LATE ? undefined : again
      if (request.wait > 0) return this.queue(request, since)
      await this.#certain(request)
      return this.queue(request)
    })
  }

  protected enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject']): void {
    const behind = this.tenure !== undefined || this.asks || this.waiters?.first !== undefined
    // A try shares the outcome of another call of its owner that is asking now.
    if (behind && request.wait === 0 && this.waiters?.asksFor(request) !== true) resolve(undefined)
    else this.#contend().enter(request, resolve, reject, behind)
  }

  /** Before a single try trusts a hold of this process, it checks it with the server, unless that was done just now. */
  async #certain(request: Request): Promise<void> {
    const { tenure } = this
    if (tenure === undefined || this.clock.monotonic() - tenure.provenAt < PASS_TIME) return
    const verified = tenure.verify().catch(() => undefined)
    await limitedStep(verified, request, this.clock, () => Promise.resolve())
  }

  // ---- releasing ---------------------------------------------------------------------------------------------------

  giveBack(tenure: Tenure): Promise<boolean> {
    const contention = this.waiters
    const next = contention?.heir(tenure)
    if (contention === undefined || next === undefined) return this.free(tenure)
    const now = this.clock.monotonic()
    contention.answeredAt = now
    if (this.runtime.closed || !mayPass(tenure, now) || tenure !== this.#tenure) return this.free(tenure)
    if (passesAsItIs(tenure, next.request.terms, now)) {
      // When the pass time ends, the watchdog asks whether we still hold the lock: after a release by force, no message tells us.
      if (tenure.passes++ === 0) this.runtime.watchdog.askAt(tenure, tenure.opened + PASS_TIME)
      contention.hand(next, tenure, true)
      return FREED
    }
    // If each waiter has a place in the line, the release on the server grants the lock to the next one.
    if (!contention.passesOn) return this.free(tenure)
    this.forget(tenure)
    const passed = contention.passOn(tenure)
    this.runtime.background.track(passed)
    return this.runtime.releases.within(passed, false)
  }

  /** Frees the lock on the server, and lets all waiters compete. False: it was lost, or the server did not answer in time. */
  async free(tenure: Tenure): Promise<boolean> {
    const { unawaited } = tenure
    this.forget(tenure)
    this.inFlight++
    if (unawaited) this.#unawaited++
    this.waiters?.freeing()
    const freeing = releaseOnServer(this, tenure, () => this.waiters?.freed())
    // The next waiter here asks right behind the release.
    this.waiters?.start()
    const freed = await freeing
    this.inFlight--
    if (unawaited) this.#unawaited--
    this.waiters?.freed()
    this.rested()
    return freed
  }

  turnAway(): void {
    this.waiters?.close(new ClosedError(this.name))
    this.#asking?.close(new ClosedError(this.name))
  }

  /** Rejects the waiters, ends the holds, and frees the lock, unless `release` is false: then its lease runs out. */
  async close(release: boolean): Promise<void> {
    const contention = this.waiters
    const asking = this.#asking
    this.turnAway()
    const storing = this.runtime.ends.of(this.tenure?.wire)
    if (release && storing !== undefined) await storing
    const { tenure } = this
    if (tenure !== undefined) {
      tenure.abandon(new ClosedError(this.name))
      if (release) await this.free(tenure)
      else {
        this.forget(tenure)
        this.leaveLine(tenure)
      }
    }
    await Promise.all([contention?.running, asking?.running])
    this.rested()
  }

  /** Removes what was needed for waiting, and the gate itself, if it is unused. */
  rested(): void {
    const contention = this.waiters
    if (this.inFlight > 0 || contention?.first !== undefined || contention?.running !== undefined) return
    const held = this.#tenure !== undefined
    // A waiter that was served without the server must still leave the line there.
    const keeps = (this.#tenure?.served.length ?? 0) > 0
    if (!held || !keeps) {
      contention?.end()
      this.waiters = undefined
    }
    if (!held) this.home.retired(this)
  }
}
