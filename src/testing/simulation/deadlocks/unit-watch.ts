import type { Client } from '../../../api/client.js'
import { checkClosed, checkError, checkIdle } from '../any-call.js'
import type { Call, SimProcess } from '../sim-process.js'
import type { Scene, Verdict } from '../verdict.js'
import type { Watch } from '../watch.js'
import type { Step } from '../worker-program.js'
import { isForeign, roundsOf } from './plan.js'
import { Redissons } from './redissons.js'
import { type HoldSpan, Truth, type WaitSpan } from './truth.js'
import { type Recorder, reportOf, runUnit } from './unit.js'

/** World time after which no unit begins. */
const ENDS = 4000
/** How long those who wait may take to notice that somebody outside has taken or deleted a lock, ms. */
const NOTICED = 1500
/** Timers and trips, ms. */
const LATE = 300

/** World time until which a client may be busy with what went wrong. One that may not write its waits tries again after a third of its lease. */
const recoveredAt = ({ blockedUntil, refusedAt, machine, plan }: SimProcess): number =>
  Math.max(blockedUntil, machine.lastWokenAt, (refusedAt.at(-1) ?? -Infinity) + plan.watchdog / 3 + LATE)

/** Units of work that wait for one another. At the end, what clients reported is compared with what really happened. */
export class UnitWatch implements Watch {
  readonly #scene: Scene
  readonly #verdict: Verdict
  readonly #truth: Truth
  /** The server's clock at the beginning. */
  readonly #epoch: number
  readonly #redissons: Redissons
  readonly #clients = new Map<SimProcess, Client>()
  /** Calls and holds that have not ended. */
  readonly #open = new Map<WaitSpan | HoldSpan, Call>()
  #takenAt = -Infinity
  #calls = 0
  grants = 0

  constructor(scene: Scene, verdict: Verdict) {
    const { machine } = scene.server
    this.#scene = scene
    this.#verdict = verdict
    this.#epoch = machine.observe(() => machine.now())
    this.#truth = new Truth(
      scene.calm ? { clock: 5, since: 100, late: 300 } : { clock: 600, since: Infinity, late: 500 },
    )
    this.#redissons = new Redissons(scene)
  }

  get counts(): ReadonlyMap<string, number> {
    const { reports, victims } = this.#truth
    return new Map([
      ['deadlocks', this.#truth.cycles().length],
      ['reports', reports.length],
      ['victims', victims.length],
    ])
  }

  #now(process: SimProcess): number {
    return this.#epoch + process.machine.time
  }

  // ---- what workers do -----------------------------------------------------------------------------------------------

  async run(worker: string, process: SimProcess, steps: readonly Step[]): Promise<void> {
    this.#listen(process)
    for (const [round, unit] of roundsOf(steps).entries()) {
      const [first] = unit as [Step]
      await process.sleep(first.before)
      if (process.closing !== undefined || process.machine.time > ENDS) return
      if (isForeign(first)) await this.#redissons.use(process, first)
      else await this.#work({ worker: `${worker}.${round}`, process, steps: unit })
    }
  }

  #listen(process: SimProcess): void {
    const client = process.client as Client
    if (this.#clients.has(process)) return
    this.#clients.set(process, client)
    const { reports, looking, breaking } = this.#truth
    const { name } = process.kind
    if (name !== 'off') looking.add(client.id)
    if (name === 'break') breaking.add(client.id)
    client.on('deadlock', (deadlock) => {
      const report = reportOf(client, deadlock, this.#now(process))
      this.#scene.note(process.name, `reports ${report.cycle.map(({ lock }) => lock).join(' → ')}`)
      reports.push(report)
    })
  }

  async #work({
    worker,
    process,
    steps,
  }: {
    worker: string
    process: SimProcess
    steps: readonly Step[]
  }): Promise<void> {
    const client = process.client as Client
    try {
      await runUnit({ client, name: worker, steps }, this.#recorder(process, steps))
    } catch (error) {
      checkError({ process, step: worker, error }, this.#scene, this.#verdict)
    }
  }

  #recorder(process: SimProcess, steps: readonly Step[]): Recorder {
    const scene = this.#scene
    let at = 0
    return {
      now: () => this.#now(process),
      pause: (ms) => process.sleep(ms),
      waits: (span) => {
        const call = this.#call(process, steps[at++] as Step)
        this.#truth.waits.push(span)
        this.#open.set(span, call)
        scene.note(process.name, `${call.id} waits for ${span.locks.join('+')}`)
        return call.controller?.signal
      },
      waited: (span, hold) => {
        const call = this.#open.get(span) as Call
        this.#open.delete(span)
        process.calls.delete(call)
        scene.note(process.name, `${call.id} ${hold === undefined ? 'gives up' : 'holds'} ${span.locks.join('+')}`)
        if (hold === undefined || process.machine.dead) return
        this.grants++
        this.#truth.holds.push(hold)
        this.#open.set(hold, call)
        process.visits.add(call)
      },
      held: (hold) => {
        const call = this.#open.get(hold) as Call
        this.#open.delete(hold)
        process.visits.delete(call)
        scene.note(process.name, `${call.id} has released ${hold.locks.join('+')}`)
      },
      victim: (victim) => {
        scene.note(process.name, 'is a victim')
        this.#truth.victims.push(victim)
      },
    }
  }

  #call(process: SimProcess, { id, name, shared, abortable }: Step): Call {
    const call: Call = {
      ...{ id: `${id}#${++this.#calls}`, name, owner: id, process, since: process.machine.time, waits: true, shared },
      ...{ controller: abortable ? new AbortController() : undefined, abortedAt: undefined },
    }
    process.calls.add(call)
    return call
  }

  // ---- what goes wrong -----------------------------------------------------------------------------------------------

  taken(): void {
    this.#takenAt = this.#scene.world.now
  }

  wiped(): void {
    this.taken()
  }

  /** What a process that is killed holds ends later; but its units do not wait any more. */
  ended(process: SimProcess, killed: boolean): void {
    if (!killed) return
    for (const [span, call] of this.#open) {
      if (call.process !== process) continue
      span.to = Math.min(span.to, this.#now(process))
      this.#open.delete(span)
    }
  }

  sent(): void {
    // What the clients say counts.
  }

  executing(): void {
    // As above.
  }

  executed(): void {
    // As above.
  }

  check(): void {
    // It is judged at the end.
  }

  // ---- what came of it -----------------------------------------------------------------------------------------------

  idle(): void {
    const { processes, server, world } = this.#scene
    const trouble = Math.max(this.#takenAt + NOTICED, server.machine.lastWokenAt, ...processes.map(recoveredAt))
    if (trouble > 0) this.#truth.wellFrom = this.#epoch + trouble
    for (const violation of this.#truth.violations(this.#epoch + world.now))
      this.#verdict.violation('deadlock', violation)
    checkIdle(this.#scene, this.#verdict)
  }

  closed(process: SimProcess): void {
    checkClosed(process, this.#verdict)
  }

  gone(): void {
    const { database } = this.#scene.server.redis
    const left = [...database.keys()].filter((key) => /^holdfast:client:.*(:waits$|deadlock:)/.test(key))
    if (left.length > 0) this.#verdict.violation('left over', left.join(', '))
  }
}
