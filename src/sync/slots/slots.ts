import { abortOf } from '../../base/abort.js'
import { dateAt, isDate } from '../../base/clock.js'
import type { TenureHold } from '../../core/hold/hold.js'
import { GatedLock, type LockHome, whoIs } from '../../core/gate/gated-lock.js'
import { within } from '../../base/scope.js'
import { NamedRunner } from '../../core/client/named-runner.js'
import {
  checkFunction,
  checkLease,
  checkName,
  checkOptions,
  checkRetry,
  checkSignal,
  checkWait,
  OPTIONS,
  show,
  usingArgs,
} from '../../check-arguments.js'
import { LockLostError } from '../../errors.js'
import { many, text } from '../../lua/reply-shape.js'
import { quoted } from '../../plain-text.js'
import { slotsLast } from '../../keys.js'
import type { SlotOptions, SlotResult, SlotRun, Slots, SlotsOptions, SlotState } from '../../api/slots.js'
import { repeatWhileTrouble } from '../../core/waiting/repeat-while-trouble.js'
import { nonReentrantLock } from '../non-reentrant-lock/non-reentrant-lock.js'
import { persist } from '../election/final-errors.js'
import type { NewestTokens } from './newest-tokens.js'
import { type Claimed, type Look, SlotRecord } from './slot-record.js'

/** A week, ms. */
const RETENTION = 604_800_000
/** How long it tries to claim a slot, or to write down how its run ended, ms. */
const PATIENCE = 60_000

/** What slots need from their client. */
export interface SlotsHome extends LockHome {
  readonly newest: NewestTokens
}

type Work<T> = (run: SlotRun) => Promise<T> | T

interface Asked {
  readonly most: number
  readonly grace: number
  readonly lease: number | undefined
  readonly signal: AbortSignal | undefined
}

const checkRun = (options: SlotOptions | undefined, isDue: boolean): Asked => {
  const { retry = 0, grace, lease, signal } = checkOptions(options, OPTIONS.runSlot)
  checkRetry(retry)
  if (grace !== undefined) checkWait(grace, 'grace')
  if (grace !== undefined && !isDue)
    throw new TypeError('grace needs a slot that is a Date: the due time of any other slot is unknown')
  if (lease !== undefined) checkLease(lease)
  if (signal !== undefined) checkSignal(signal, 'signal')
  return { most: retry + 1, grace: grace ?? Infinity, lease, signal }
}

/** When a slot is due, and its name. */
const checkSlot = (slot: unknown): { slot: string; due: number | undefined } => {
  if (!isDate(slot)) return { slot: checkName(slot, 'slot'), due: undefined }
  const due = slot.getTime()
  if (Number.isNaN(due) || due < 0) throw new RangeError(`slot must be a date since 1970, not ${show(String(slot))}`)
  return { slot: slot.toISOString(), due }
}

/** Slots of one name. */
export class ClaimedSlots implements Slots {
  readonly name: string
  readonly #home: SlotsHome
  readonly #key: string
  readonly #retention: number

  constructor(home: SlotsHome, name: string, options?: SlotsOptions) {
    const { retention = RETENTION } = checkOptions(options, OPTIONS.slots)
    this.#retention = checkLease(retention, 'retention')
    this.#home = home
    this.name = name
    this.#key = home.runtime.keyOf(name)
  }

  async run<T>(
    wanted: string | Date,
    first: SlotOptions | undefined | Work<T>,
    second?: Work<T>,
  ): Promise<SlotResult<T>> {
    const { slot, due } = checkSlot(wanted)
    const [options, work] = usingArgs<SlotOptions, Work<T>>(first, second)
    checkFunction(work, 'work')
    const asked = checkRun(options, due !== undefined)
    const { runtime } = this.#home
    runtime.checkTakes(this.name)
    const record = this.#record(slot, due)
    const look = await this.#look(record, asked)
    const skipped = this.#skipped(look, due, asked)
    if (skipped !== undefined) return this.#named(skipped, look)
    const lock = new GatedLock(this.#home, nonReentrantLock, `${this.name}: ${slot}`, record.lock)
    const hold = await this.#hold(lock, asked)
    if (hold === undefined) return this.#late(record, asked)
    try {
      const claim = await this.#claim(record, hold, asked)
      if (claim === undefined) return await this.#late(record, asked, !hold.lost)
      const remaining = (): number => hold.remaining()
      return await this.#work({ slot, signal: hold.signal, remaining, ...claim }, { lock, hold, record, work })
    } finally {
      await this.#free(hold)
    }
  }

  async skip(wanted: string | Date): Promise<boolean> {
    const { slot, due } = checkSlot(wanted)
    const record = this.#record(slot, due)
    const { runtime } = this.#home
    return runtime.untilClosed(async () => {
      const outcome = await persist(runtime, () => record.skip(), runtime.options.clock.monotonic() + PATIENCE)
      if ('error' in outcome) throw outcome.error
      return outcome.answer
    }, this.name)
  }

  async inspect(wanted: string | Date): Promise<SlotState | undefined> {
    const { slot, due } = checkSlot(wanted)
    const record = this.#record(slot, due)
    const look = await this.#home.runtime.untilClosed(() => record.look(), this.name)
    if (look.state === undefined) return undefined
    const { client, attempt, token, began, ended } = look
    return {
      state: look.state,
      by: await whoIs(this.#home.readLabels, client),
      attempt,
      ...(token !== undefined && { token }),
      ...(began !== undefined && { began }),
      ...(ended !== undefined && { ended }),
    }
  }

  async last(): Promise<Date | undefined> {
    const key = slotsLast(this.#key)
    const { runtime } = this.#home
    const options = { route: key, target: this.name }
    const last = await runtime.untilClosed(
      () => runtime.link.command(['GETRANGE', key, '0', '31'], text, options),
      this.name,
    )
    return /^\d{1,15}$/.test(last) ? dateAt(Number(last)) : undefined
  }

  async now(): Promise<number> {
    const { runtime } = this.#home
    const options = { route: slotsLast(this.#key), target: this.name }
    const [seconds, micros] = await runtime.untilClosed(
      () => runtime.link.command(['TIME'], many(text), options),
      this.name,
    )
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  #record(slot: string, due: number | undefined): SlotRecord {
    const { runtime, newest } = this.#home
    const run = `${runtime.options.id}:${runtime.nextNumber()}`
    const speaker = new NamedRunner(runtime, `${this.name}: ${slot}`)
    return new SlotRecord(speaker, { key: this.#key, slot, due, run, kept: this.#retention, newest })
  }

  /** Only a call with `retry` waits. */
  #look(record: SlotRecord, { most, signal }: Asked): Promise<Look> {
    const { runtime } = this.#home
    const look = (): Promise<Look> => runtime.untilClosed(() => record.look(), this.name)
    return most > 1 ? (repeatWhileTrouble(runtime, look, { wait: Infinity, signal }) as Promise<Look>) : look()
  }

  #hold(lock: GatedLock, { most, lease, signal }: Asked): Promise<TenureHold | undefined> {
    const options = { ...(lease !== undefined && { lease, renew: true }), ...(signal !== undefined && { signal }) }
    return most > 1 ? lock.acquire(options) : lock.tryAcquire(options)
  }

  /** Why this process must not run the slot, as far as that is known without its lock. */
  #skipped(look: Look, due: number | undefined, { most, grace }: Asked): Skipped | undefined {
    const { state, attempt, running, now } = look
    const late = due === undefined ? {} : { late: now - due }
    if (state === undefined) {
      if (due !== undefined && now < due) return { reason: 'early', ...late }
      if (due !== undefined && now - due > grace) return { reason: 'late', ...late }
      return undefined
    }
    if (state !== 'running' && state !== 'crashed') return { reason: state, ...late }
    if (most > 1 && (running || attempt < most)) return undefined
    return { reason: state, ...late }
  }

  /** Another process had the lock or the record meanwhile. `ours`: this process has the lock, so a run by another process is over. */
  async #late<T>(record: SlotRecord, asked: Asked, ours = false): Promise<SlotResult<T>> {
    const look = await this.#look(record, asked)
    const { state = 'running' } = look
    return this.#named({ reason: ours && state === 'running' ? 'crashed' : state }, look)
  }

  async #named<T>(skipped: Skipped, { state, client }: Look): Promise<SlotResult<T>> {
    const by = state === undefined ? {} : { by: await whoIs(this.#home.readLabels, client) }
    return { outcome: 'skipped', ...skipped, ...by }
  }

  /**
   * Retries while the lock is certain. If it is unclear whether the slot was claimed, or if it may no longer start, it is left to other processes.
   */
  async #claim(record: SlotRecord, hold: TenureHold, { most, signal }: Asked): Promise<Claimed | undefined> {
    const { runtime } = this.#home
    const { clock } = runtime.options
    const last = clock.monotonic() + PATIENCE
    const until = (): number => {
      if (abortOf(signal) !== undefined) return 0
      return Math.min(last, clock.monotonic() + hold.remaining())
    }
    const claim = async (): Promise<Claimed | undefined> => {
      signal?.throwIfAborted()
      return record.claim(hold.tenure.wire, most)
    }
    const outcome = await persist(runtime, claim, until)
    if ('answer' in outcome && outcome.answer === undefined) return undefined
    const [aborted, lost] = [abortOf(signal), abortOf(hold.signal)]
    if ('answer' in outcome && (aborted ?? lost) === undefined) return outcome.answer
    runtime.retry.inBackground(() => record.giveBack())
    if (aborted !== undefined) throw aborted.error
    throw 'error' in outcome ? outcome.error : lost?.error
  }

  async #work<T>(run: SlotRun, { lock, hold, record, work }: Working<T>): Promise<SlotResult<T>> {
    const { runtime } = this.#home
    const { token, attempt } = run
    let result: SlotResult<T>
    runtime.working++
    try {
      const value = await within(lock, hold, async () => work(run))
      result = { outcome: 'ran', value, token, attempt }
    } catch (error) {
      result = { outcome: 'failed', error, token, attempt }
    } finally {
      runtime.working--
    }
    // Work that was stopped midway has not ended: another process may take over, as if this one had died.
    const { outcome } = result
    if (outcome === 'failed' && hold.signal.aborted) return result
    const storing = this.#store(record, outcome, run)
    runtime.ends.add(hold.wire, storing)
    const told = await runtime.releases.within(storing, undefined)
    // While the lock is certain, nobody can have taken over.
    const counts = told ?? !hold.signal.aborted
    if (outcome === 'failed' || counts) return result
    const why = told === undefined ? 'its lease ended before its end was stored' : 'another process took over the slot'
    const closed = told === undefined ? hold.closed : undefined
    const error = closed ?? new LockLostError(lock.name, why, { result: result.value })
    return { outcome: 'failed', error, token, attempt }
  }

  /** `undefined`: the server never answered. `false`: another process has taken over. */
  async #store(record: SlotRecord, outcome: 'ran' | 'failed', run: SlotRun): Promise<boolean | undefined> {
    const { runtime } = this.#home
    const until = runtime.options.clock.monotonic() + PATIENCE
    const written = await persist(runtime, () => record.finish(outcome, run), until)
    if ('answer' in written) return written.answer
    runtime.fail(written.error, `could not store that the slot ${quoted(run.slot)} of ${quoted(this.name)} ended`)
    return undefined
  }

  /** The caller waits until the slot is free, but not longer for the end of its run than it has waited already. */
  async #free(hold: TenureHold): Promise<void> {
    const { runtime } = this.#home
    const storing = runtime.ends.of(hold.wire)
    if (storing === undefined) await hold.release()
    else runtime.background.track(storing.then(() => hold.release()))
  }
}

type Skipped = Pick<Extract<SlotResult<never>, { outcome: 'skipped' }>, 'reason' | 'late'>

interface Working<T> {
  readonly lock: GatedLock
  readonly hold: TenureHold
  readonly record: SlotRecord
  readonly work: Work<T>
}
