import type { Client } from '../../api/client.js'
import type { FlightRun } from '../../api/flight.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import { FlightError } from '../../errors.js'
import { flightLock, flightRecord } from '../../keys.js'
import type { Reply } from '../../lua/values.js'
import { checkTimely } from './any-call.js'
import type { Flight } from './sent-command.js'
import { type Computed, Computations, KEY, type Seen } from './computations.js'
import type { Party } from './party.js'
import { type Call, type SimProcess, work, WorkFailed } from './sim-process.js'
import type { Step } from './worker-program.js'
import { type Asked, Tally } from './tally.js'

/** More than a message carries. */
const LONG = 'x'.repeat(20_000)

/** What was kept or is computed is gone, as if somebody else had deleted it. */
export const flightUnmade = (redis: MemoryServer, name: string): void => {
  redis.execute(['DEL', flightLock(name, KEY), flightRecord(name, KEY)])
}

/**
 * Flights: two computations of a key never run side by side; none begins where a value was stored since its caller asked; nobody
 * sees a result that was refused, forgotten, or older than what was seen before; failures reach only those who share them; and
 * nobody waits on where nobody computes.
 */
export class FlightTally extends Tally {
  /** A value that is kept serves those who come later. */
  protected override readonly ordered = false
  readonly #computations = new Computations(this.scene, this.verdict)
  /** Work that runs, by its call. */
  readonly #running = new Map<Call, Computed>()

  protected async perform(_worker: string, process: SimProcess, step: Step): Promise<void> {
    const { name, does } = step
    const flight = (process.client as Client).flight(name)
    if (does === 'inspect') await flight.inspect(KEY)
    else if (does === 'force') {
      const over = this.#computations.forgets(name)
      await flight.forget(KEY)
      over()
    } else {
      const wish = { amount: 1, wait: this.waitOf(step) }
      await this.asks(process, step, wish, (call, signal) => this.#flies(call, step, signal))
    }
  }

  async #flies(call: Asked, step: Step, signal: AbortSignal | undefined): Promise<boolean> {
    const { process, name } = call
    const own: Computed[] = []
    const options = {
      ...({ wait: call.wait, signal, failure: step.nestedShared ? 'share' : 'retry' } as const),
      ...{ ttl: step.nested ? 200 : 0, stale: step.owned ? 400 : 0 },
      lease: step.lease === undefined ? undefined : Math.max(100, step.lease),
    }
    const flight = (process.client as Client).flight(name)
    try {
      const { value, shared } = await flight.run(KEY, options, (run) => this.#computes(call, step, { run, own }))
      this.#computations.seen(call, value, shared, own)
      return this.served(call)
    } catch (error) {
      // The time of its own work does not count.
      if (own.length > 0 && process.calls.delete(call)) checkTimely(call, undefined, this.verdict)
      if (!this.#isFailure(call, step, error, own)) throw error
      return false
    }
  }

  async #computes(call: Asked, step: Step, { run, own }: { run: FlightRun; own: Computed[] }): Promise<Seen> {
    const { process } = call
    const computed = this.#computations.begins(call, run)
    own.push(computed)
    process.visits.add(call)
    this.#running.set(call, computed)
    await work(process, run, step, step.work)
    process.visits.delete(call)
    this.#running.delete(call)
    computed.running = false
    if (!step.stubborn) run.signal.throwIfAborted()
    computed.failed = step.end === 'detach'
    if (computed.failed) throw new WorkFailed(computed.id)
    return { id: computed.id, more: step.end === 'using' ? LONG : '' }
  }

  /** A failure of some work, of which this call may be told. */
  #isFailure(call: Asked, step: Step, error: unknown, own: readonly Computed[]): boolean {
    if (!(error instanceof FlightError) && !(error instanceof WorkFailed)) return false
    const id = /\S+$/.exec(error.message)?.[0] ?? ''
    if (own.some((computed) => computed.id === id)) return true
    if (!step.nestedShared)
      this.verdict.violation('failure', `${call.id} retries, and rejects with the failure of ${id}`)
    this.#computations.failureSeen(call, id)
    return true
  }

  // ---- what the server does ------------------------------------------------------------------------------------------

  executing(): void {
    // What it did is judged by its reply.
  }

  executed(process: Party, flight: Flight, reply: Reply | Error): void {
    if (!(reply instanceof Error)) this.#computations.executed(process, flight, reply)
  }

  override taken(name: string): void {
    this.#computations.deleted(name)
  }

  override wiped(): void {
    super.wiped()
    this.#computations.wiped()
  }

  /** Only the call whose work runs waits for it once that has heard that its lock is lost; the others compute again. */
  protected isPossible(call: Asked): boolean {
    const { process, name } = call
    for (const visit of process.visits)
      if (visit.name === name && (visit === call || !this.#isDoomed(visit))) return false
    return this.scene.server.redis.execute(['EXISTS', flightLock(name, KEY)]) === 0
  }

  #isDoomed(visit: Call): boolean {
    const computed = this.#running.get(visit)
    return computed?.process.machine.observe(() => computed.signal.aborted) === true
  }

  protected checkServer(name: string): void {
    this.#computations.check(name)
  }

  protected checkSettled(process: SimProcess, name: string): void {
    const [holder] = this.scene.server.redis.execute(['HKEYS', flightLock(name, KEY)]) as string[]
    if (holder?.includes(String(process.client?.id)) === true)
      this.verdict.violation('left over', `${process.name} still holds the lock of '${name}'`)
  }
}
