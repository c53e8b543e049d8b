import type { Client } from '../../api/client.js'
import { start } from '../../client.js'
import { settle } from '../../config/settings.js'
import type { GatedLock } from '../../core/gate/gated-lock.js'
import type { TenureHold } from '../../core/hold/hold.js'
import type { Gates } from '../../core/gate/gates.js'
import type { Hold } from '../../api/hold.js'
import type { Lock } from '../../api/lock.js'
import type { Fault } from './faults.js'
import type { Machine } from './machine.js'
import type { SimDriver } from './network.js'
import type { Party } from './party.js'
import type { ProcessPlan, Step } from './worker-program.js'
import type { SimKind } from './sim-kind.js'

/** A call of `acquire` that has not come back. */
export interface Call {
  readonly id: string
  readonly name: string
  /** Calls of one owner may be inside together. */
  readonly owner: string
  readonly process: SimProcess
  /** World time. */
  readonly since: number
  readonly waits: boolean
  readonly shared: boolean
  readonly controller: AbortController | undefined
  abortedAt: number | undefined
}

/** A hold that a worker has, until it lets go of it. */
export interface Held {
  readonly call: string
  readonly owner: string
  readonly name: string
  readonly process: SimProcess
  readonly hold: TenureHold
  readonly wire: string
  readonly since: number
  readonly shared: boolean
  told: boolean
  everLost: boolean
}

/** A command that meets one of these may keep its process from the server for a while; longer than the fault itself. */
const HARMLESS: ReadonlySet<Fault> = new Set([
  'aborted',
  'scripts flushed',
  'message lost',
  'message doubled',
  'message late',
  'messages cut',
])

/** One process: its machine, its connection, its client, and what its workers are at. */
export class SimProcess implements Party {
  readonly plan: ProcessPlan
  readonly kind: SimKind
  readonly machine: Machine
  readonly driver: SimDriver
  readonly calls = new Set<Call>()
  readonly holds = new Set<Held>()
  /** What its workers have that is no hold, by call. */
  readonly visits = new Set<Call>()
  client: Client | undefined
  closing: Promise<void> | undefined
  closedAt: number | undefined
  /** World time until which what goes wrong may be due to what was done to it. */
  troubledUntil = 0
  /** The same, leaving out what a server refused. */
  blockedUntil = 0
  readonly refusedAt: number[] = []
  /** Told before it ends, by force or not. */
  ends: (killed: boolean) => void = () => undefined
  /** Resolves when it is killed. */
  readonly death: Promise<void>
  #die: () => void = () => undefined

  constructor(plan: ProcessPlan, kind: SimKind, machine: Machine, driver: SimDriver) {
    this.plan = plan
    this.kind = kind
    this.machine = machine
    this.driver = driver
    this.death = new Promise((resolve) => {
      this.#die = resolve
    })
  }

  get name(): string {
    return this.plan.name
  }

  get living(): boolean {
    return this.client !== undefined && this.closing === undefined && !this.machine.dead
  }

  async connect(): Promise<void> {
    const { watchdog, commandTimeout, maxWaiters, release, name } = this.plan
    const plan = { watchdog, commandTimeout, maxWaiters, release, label: name }
    const settings = settle({ url: 'memory:', ...plan, clock: this.machine, ...this.kind.options }, {})
    this.client = await start(settings, this.driver)
  }

  lock(name: string, shared = false): Lock {
    return this.kind.open(this.client as Client, name, shared)
  }

  get gates(): Gates {
    return ((this.client as Client).lock('a') as GatedLock).gates
  }

  /** Some worker has something. */
  get busy(): boolean {
    return this.holds.size > 0 || this.visits.size > 0
  }

  /** Where it is: the commands on their way, whether somebody waits, whether somebody holds. */
  points(): string[] {
    const flights = this.driver.flights(this.machine.time - this.plan.commandTimeout)
    const points = flights.map(({ op }) => op)
    if (this.calls.size > 0) points.push('waiting')
    if (this.busy) points.push('holding')
    return points
  }

  troubled(fault: Fault, ms: number): void {
    const now = this.machine.time
    if (HARMLESS.has(fault)) return
    if (fault === 'refused') {
      this.refusedAt.push(now)
      this.troubledUntil = Math.max(this.troubledUntil, now + 1100)
      return
    }
    // A command waits for its reply, and then the next attempt for its moment.
    this.blockedUntil = Math.max(this.blockedUntil, now + ms + 2 * this.plan.commandTimeout + 1500)
    this.troubledUntil = Math.max(this.troubledUntil, this.blockedUntil)
  }

  /** Aborts one of the calls that can be. */
  abortSomething(): boolean {
    for (const call of this.calls) {
      if (call.controller === undefined || call.controller.signal.aborted) continue
      this.abort(call)
      return true
    }
    return false
  }

  abort(call: Call): void {
    this.machine.deliver(() => {
      if (!this.calls.has(call)) return
      call.abortedAt = this.machine.time
      call.controller?.abort(new Aborted())
    })
  }

  stepWall(ms: number): void {
    this.machine.stepWall(ms)
  }

  close(release: boolean): Promise<void> {
    this.closing ??= (async () => {
      this.ends(false)
      this.holds.clear()
      await this.client?.close({ release })
      this.closedAt = this.machine.time
    })()
    return this.closing
  }

  kill(): void {
    this.ends(true)
    this.machine.kill()
    this.driver.kill()
    this.holds.clear()
    this.visits.clear()
    this.calls.clear()
    this.#die()
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.machine.setTimer(resolve, ms)
    })
  }
}

/** What the work of a call throws if it is to fail. */
export class WorkFailed extends Error {
  override readonly name = 'WorkFailed'
}

/** The reason of every abort. */
export class Aborted extends Error {
  override readonly name = 'Aborted'
}

/** Whether this step shall go on working: until the time is up, or the hold is lost. */
export const work = (process: SimProcess, hold: Pick<Hold, 'signal'>, step: Step, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const { signal } = hold
    const timer = process.machine.setTimer(resolve, ms)
    if (step.stubborn) return
    const stop = (): void => {
      timer.cancel()
      resolve()
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
