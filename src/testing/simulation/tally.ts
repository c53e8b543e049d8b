import { checkClosed, checkError, checkIdle, checkTimely } from './any-call.js'
import type { Flight } from './sent-command.js'
import type { Party } from './party.js'
import { Aborted, type Call, type SimProcess } from './sim-process.js'
import type { Step } from './worker-program.js'
import type { Scene, Verdict } from './verdict.js'
import type { Watch } from './watch.js'
import type { Reply } from '../../lua/values.js'

/** A call for something that many may have at once. */
export interface Asked extends Call {
  /** How much of it. */
  readonly amount: number
  /** ms; 0: one try. There is an end to every wait: what the dead had taken is never given back. */
  readonly wait: number
}

/** How much a step asks for, and for how long. */
export interface Wish {
  readonly amount: number
  readonly wait: number
}

/** Who waits without a limit of its own. */
const LONG_WAIT = 20_000
/** A poll, and what comes with it. */
const FORGOTTEN = 1500
/** Timers come a little early now and then. */
const EARLY = 1

/**
 * Those who wait for what many may have at once, and those who have it. What the server has of it is the family's own to
 * know: whether more could be had, and whether that is what the processes count on.
 */
export abstract class Tally implements Watch {
  protected readonly scene: Scene
  protected readonly verdict: Verdict
  grants = 0
  #calls = 0
  /** Calls that were served, each with one that had asked before it. */
  #overtaken: (readonly [served: Asked, before: Asked])[] = []
  /** Since when the first of a process could have what it waits for. */
  readonly #possibleSince = new Map<string, { readonly first: Asked; readonly at: number }>()
  /** The server has lost its data: what it knew of steps that were not answered is gone with them. */
  protected forgetful = false
  /** First come, first served, within a process. */
  protected readonly ordered: boolean = true

  constructor(scene: Scene, verdict: Verdict) {
    this.scene = scene
    this.verdict = verdict
  }

  // ---- what a family says --------------------------------------------------------------------------------------------

  /** One step of a worker. */
  protected abstract perform(worker: string, process: SimProcess, step: Step): Promise<void>
  /** Whether the server could serve this call now. */
  protected abstract isPossible(call: Asked): boolean
  abstract executing(flight: Flight): void
  abstract executed(process: Party, flight: Flight, reply: Reply | Error): void
  /** After everything that happens. */
  protected abstract checkServer(name: string): void
  /** Everybody is done, and this process lives. */
  protected abstract checkSettled(process: SimProcess, name: string): void

  // ---- what workers do -----------------------------------------------------------------------------------------------

  async run(worker: string, process: SimProcess, steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (step.before > 0) await process.sleep(step.before)
      if (process.closing !== undefined) return
      try {
        await this.perform(worker, process, step)
      } catch (error) {
        checkError({ process, step: step.id, error }, this.scene, this.verdict)
      }
    }
  }

  /** How a step waits. */
  protected waitOf({ does, wait }: Step): number {
    return wait ?? (does === 'try' ? 0 : LONG_WAIT)
  }

  /** A call that may wait. `ask` resolves to whether it was served. */
  protected async asks(
    process: SimProcess,
    step: Step,
    { amount, wait }: Wish,
    ask: (call: Asked, signal: AbortSignal | undefined) => Promise<boolean>,
  ): Promise<boolean> {
    const id = `${step.id}#${++this.#calls}`
    const controller = step.abortable || step.abortAfter !== undefined ? new AbortController() : undefined
    const call: Asked = {
      ...{ id, name: step.name, owner: id, process, shared: true, controller, amount, wait },
      ...{ since: process.machine.time, waits: wait > 0, abortedAt: undefined },
    }
    process.calls.add(call)
    this.scene.note(process.name, `${id} asks for ${amount} of '${step.name}'`)
    if (step.abortAfter !== undefined)
      process.machine.setTimer(() => {
        process.abort(call)
      }, step.abortAfter)
    try {
      const served = await ask(call, controller?.signal)
      if (!served) this.#ended(call, 'is not served')
      return served
    } catch (error) {
      this.#ended(call, `fails: ${String(error)}`)
      if (error instanceof Aborted && call.abortedAt === undefined)
        this.verdict.violation('abort', `${id} was not aborted`)
      throw error
    }
  }

  #ended(call: Asked, how: string): void {
    // One that was served, and failed in what came after.
    if (!call.process.calls.delete(call)) return
    this.scene.note(call.process.name, `${call.id} ${how}`)
    checkTimely(call, call.wait, this.verdict)
  }

  /** Called in the tick in which the caller knows. False: its process ends, and it counts on nothing. */
  protected served(call: Asked): boolean {
    const { process, id, name } = call
    for (const other of process.calls) {
      if (other === call) break
      if (other.name === name) this.#overtaken.push([call, other as Asked])
    }
    process.calls.delete(call)
    checkTimely(call, undefined, this.verdict)
    if (call.controller?.signal.aborted === true)
      this.verdict.violation('abort', `${id} is served although it was aborted before`)
    this.scene.note(process.name, `${id} is served`)
    if (process.closing !== undefined) return false
    this.grants++
    return true
  }

  /** Works with what it has. */
  protected async works(call: Asked, { work }: Step): Promise<void> {
    const { process } = call
    process.visits.add(call)
    await process.sleep(work)
    process.visits.delete(call)
  }

  // ---- what is looked at after everything that happens ---------------------------------------------------------------

  check(): void {
    const { locks, processes, server } = this.scene
    server.machine.observe(() => {
      for (const name of locks) {
        this.checkServer(name)
        for (const process of processes) this.#checkFirst(process, name)
      }
    })
    for (const [served, before] of this.#overtaken) this.#checkOrder(served, before)
    this.#overtaken = []
  }

  /** Whose time is over, or who is aborted, leaves before its call has come back. */
  #waits(call: Asked): boolean {
    const { process, wait, since, abortedAt } = call
    if (!process.calls.has(call) || wait === 0 || abortedAt !== undefined) return false
    return process.machine.time < since + wait - EARLY
  }

  /** A single try stands in no line. */
  #checkOrder(served: Asked, before: Asked): void {
    if (this.ordered && served.process.living && this.#waits(before))
      this.verdict.violation('order', `${served.id} has what ${before.id} asked for before it`)
  }

  /** Who is first in its process is not forgotten. */
  #checkFirst(process: SimProcess, name: string): void {
    const { machine, living, calls } = process
    const place = `${process.name} ${name}`
    const first = ([...calls] as Asked[]).find((call) => call.name === name && this.#waits(call))
    if (first === undefined || !living || machine.stopped || !this.isPossible(first)) {
      this.#possibleSince.delete(place)
      return
    }
    const { now } = this.scene.world
    const known = this.#possibleSince.get(place)
    const at = known?.first === first ? known.at : now
    this.#possibleSince.set(place, { first, at })
    const waited = now - Math.max(at, process.troubledUntil, machine.lastWokenAt)
    if (waited > FORGOTTEN)
      this.verdict.violation('forgotten', `${first.id} could have had '${name}' for ${waited.toFixed(0)} ms`)
  }

  sent(): void {
    // What the server does counts.
  }

  taken(_name: string): void {
    // What is made anew is found by looking.
  }

  wiped(): void {
    this.forgetful = true
  }

  ended(process: SimProcess): void {
    process.visits.clear()
  }

  // ---- what is left --------------------------------------------------------------------------------------------------

  idle(): void {
    const { processes, locks } = this.scene
    for (const process of processes)
      if (process.living && !this.forgetful) for (const name of locks) this.checkSettled(process, name)
    checkIdle(this.scene, this.verdict)
  }

  closed(process: SimProcess): void {
    checkClosed(process, this.verdict)
  }

  gone(): void {
    const channels = this.scene.server.redis.pubsub.channels(false)
    if (channels.length > 0) this.verdict.violation('left over', `subscriptions to ${channels.join(', ')}`)
  }
}

/** How much each process has of each object. */
export class Ledger<P extends Party = Party> {
  readonly #amounts = new Map<P, Map<string, number>>()

  of(process: P, name: string): number {
    return this.#amounts.get(process)?.get(name) ?? 0
  }

  add(process: P, name: string, amount: number): void {
    const amounts = this.#amounts.get(process) ?? new Map<string, number>()
    this.#amounts.set(process, amounts)
    amounts.set(name, this.of(process, name) + amount)
  }
}
