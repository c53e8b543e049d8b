import type { TenureHold } from '../../core/hold/hold.js'
import type { Hold, Owner } from '../../api/hold.js'
import type { AcquireOptions, Lock } from '../../api/lock.js'
import { type Call, type Held, type SimProcess, work } from './sim-process.js'
import type { Step } from './worker-program.js'

/** Who hears of everything. */
interface Hearer {
  invoked(call: Call): void
  granted(call: Call, hold: TenureHold, mayReenter: boolean): Held | undefined
  refused(call: Call): void
  failed(call: Call, wait: number | undefined, error: unknown): void
  letsGo(held: Held): void
  released(held: Held, freed: boolean): void
  detached(held: Held): void
  judge(process: SimProcess, step: string, error: unknown): void
}

/** Does its steps one after the other, and tells the oracle of everything. */
export class Worker {
  readonly #name: string
  readonly #process: SimProcess
  readonly #oracle: Hearer
  readonly #others: readonly SimProcess[]
  readonly #owner: Owner
  #calls = 0

  constructor(name: string, process: SimProcess, oracle: Hearer, others: readonly SimProcess[]) {
    this.#name = name
    this.#process = process
    this.#oracle = oracle
    this.#others = others
    this.#owner = (process.client as NonNullable<SimProcess['client']>).owner()
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (step.before > 0) await this.#process.sleep(step.before)
      if (this.#process.closing !== undefined) return
      await this.#perform(step)
    }
  }

  async #perform(step: Step): Promise<void> {
    const lock = this.#process.lock(step.name, step.shared)
    try {
      if (step.does === 'inspect') await lock.inspect()
      else if (step.does === 'force') await lock.forceRelease()
      else if (step.end === 'using' && step.does === 'hold') await this.#use(lock, step)
      else await this.#hold(lock, step)
    } catch (error) {
      this.#oracle.judge(this.#process, step.id, error)
    }
  }

  async #use(lock: Lock, step: Step): Promise<void> {
    const call = this.#begin(this.#process, step, `${step.id}/using`)
    let held: Held | undefined
    try {
      await lock.using(this.#options(call, step), async (hold) => {
        held = this.#granted(call, hold, false)
        const inner = held && (await this.#work({ ...step, outlasts: false }, held))
        if (inner !== undefined) await this.#release(inner)
        if (held !== undefined) this.#oracle.letsGo(held)
      })
      if (held !== undefined) this.#oracle.released(held, true)
    } catch (error) {
      if (held === undefined) this.#failed(call, step, error)
      else this.#oracle.released(held, false)
      throw error
    }
  }

  async #hold(lock: Lock, step: Step): Promise<void> {
    const held = await this.#acquire(lock, step, step.id)
    if (held === undefined) return
    const inner = await this.#work(step, held)
    if (step.end === 'forget') return
    // A permit's id is a ticket by itself.
    if (step.end === 'detach' && this.#process.kind.permits === undefined) await this.#detach(held, step)
    else await this.#release(held)
    if (inner === undefined || this.#process.closing !== undefined) return
    await work(this.#process, inner.hold, step, step.work / 2)
    await this.#release(inner)
  }

  /** What it took inside and has still. */
  async #work(step: Step, held: Held): Promise<Held | undefined> {
    const process = this.#process
    const { hold } = held
    await work(process, hold, step, step.work / 2)
    if (process.closing !== undefined) return undefined
    try {
      if (step.extend) await hold.extend(step.lease)
    } catch (error) {
      this.#oracle.judge(process, step.id, error)
    }
    const inner = step.nested ? await this.#nest(step, held) : undefined
    await work(process, hold, step, step.work / 2)
    return inner
  }

  async #nest(step: Step, around: Held): Promise<Held | undefined> {
    const process = this.#process
    try {
      const id = `${step.id}/nested`
      const side = { ...step, shared: step.nestedShared }
      const lock = process.lock(step.name, side.shared)
      const inner = await this.#acquire(lock, { ...side, lease: undefined, wait: 1000, owned: false }, id, around)
      if (inner === undefined) return undefined
      await work(process, inner.hold, step, step.work / 2)
      if (process.kind.shared === true && step.outlasts && side.shared && step.end === 'release') return inner
      await this.#release(inner)
    } catch (error) {
      this.#oracle.judge(process, step.id, error)
    }
    return undefined
  }

  #options(call: Call, step: Step): AcquireOptions {
    return {
      ...(step.wait !== undefined && { wait: step.wait }),
      ...(step.lease !== undefined && { lease: step.lease }),
      ...(step.owned && { owner: this.#owner }),
      ...(call.controller !== undefined && { signal: call.controller.signal }),
    }
  }

  /** `around`: the hold that it is taken within, whose owner takes it again. */
  async #acquire(lock: Lock, step: Step, id: string, around?: Held): Promise<Held | undefined> {
    const call = this.#begin(this.#process, step, id, around?.owner)
    const owner = around?.hold.owner
    const options = { ...this.#options(call, step), ...(owner !== undefined && { owner }) }
    let hold: Hold | undefined
    try {
      hold = step.does === 'try' ? await lock.tryAcquire(options) : await lock.acquire(options)
    } catch (error) {
      this.#failed(call, step, error)
      throw error
    }
    if (hold !== undefined) return this.#granted(call, hold, owner !== undefined || step.owned)
    this.#oracle.refused(call)
    call.process.calls.delete(call)
    return undefined
  }

  #begin(process: SimProcess, step: Step, name: string, owner?: string): Call {
    const id = `${name}#${++this.#calls}`
    const call: Call = {
      id,
      name: step.name,
      owner: owner ?? (step.owned ? this.#name : id),
      process,
      since: process.machine.time,
      shared: process.kind.permits !== undefined || (step.shared && process.kind.shared === true),
      waits: step.does === 'hold' && step.wait === undefined,
      // An adoption cannot be aborted.
      controller: name.endsWith('/adopt')
        ? undefined
        : step.abortable || step.abortAfter !== undefined
          ? new AbortController()
          : undefined,
      abortedAt: undefined,
    }
    process.calls.add(call)
    this.#oracle.invoked(call)
    if (step.abortAfter !== undefined && call.controller !== undefined) {
      process.machine.setTimer(() => {
        process.abort(call)
      }, step.abortAfter)
    }
    return call
  }

  #granted(call: Call, hold: Hold, mayReenter: boolean): Held | undefined {
    call.process.calls.delete(call)
    return this.#oracle.granted(call, hold as TenureHold, mayReenter)
  }

  #failed(call: Call, step: Step, error: unknown): void {
    call.process.calls.delete(call)
    this.#oracle.failed(call, step.wait ?? (step.does === 'try' ? 0 : undefined), error)
  }

  async #release(held: Held): Promise<void> {
    this.#oracle.letsGo(held)
    this.#oracle.released(held, await held.hold.release())
  }

  async #detach(held: Held, step: Step): Promise<void> {
    const others = this.#others.filter((other) => other.living)
    this.#oracle.letsGo(held)
    let ticket: string
    try {
      ticket = await held.hold.detach()
    } catch (error) {
      // It is still this worker's.
      await held.hold.release()
      throw error
    }
    this.#oracle.detached(held)
    const taker = others.find((other) => other !== this.#process && other.living) ?? this.#process
    if (taker.living) await Promise.race([this.#adopt(taker, ticket, step), taker.death])
  }

  async #adopt(taker: SimProcess, ticket: string, step: Step): Promise<void> {
    const call = this.#begin(taker, step, `${step.id}/adopt`, `${step.id}/adopt`)
    let adopted: Hold | undefined
    try {
      adopted = await taker.client?.adopt(ticket)
    } catch (error) {
      this.#failed(call, { ...step, wait: undefined, does: 'hold' }, error)
      throw error
    }
    if (adopted === undefined) return
    const held = this.#granted(call, adopted, true)
    if (held === undefined) return
    await work(taker, adopted, step, step.work / 2)
    if (taker.living) await this.#release(held)
  }
}
