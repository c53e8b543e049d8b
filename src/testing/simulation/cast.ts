import { MemoryServer } from '../../engine/memory/server.js'
import * as scripts from '../../lua/scripts.gen.js'
import type { Random } from '../random.js'
import type { Weather } from './faults.js'
import { Machine } from './machine.js'
import { type Fates, SimDriver, type SimServer } from './network.js'
import type { Party } from './party.js'
import { SimProcess } from './sim-process.js'
import { type ProcessPlan, type Program, crowdOf, programOf } from './worker-program.js'
import { strangersOf } from './redisson/plan.js'
import { Redisson } from './redisson/redisson.js'
import * as strangersScripts from './redisson/scripts.gen.js'
import type { World } from './world.js'
import type { SimKind } from './sim-kind.js'
import type { Witness } from './redisson/thread.js'
import type { Family } from './family.js'

/** The name of each script by its SHA and by its text. */
const SCRIPTS: ReadonlyMap<string, string> = new Map(
  [...Object.values(scripts), ...Object.values(strangersScripts)].flatMap(({ name, sha, text }) => [
    [sha, name],
    [text, name],
  ]),
)

/** Such a share of the calm histories is of many processes. */
const CROWDS = 0.4

/** What decides who takes part. */
export interface Casting {
  readonly world: World
  readonly random: Random
  readonly family: Family
  readonly weather: Weather
  /** Parts that are left out. */
  readonly masked: ReadonlySet<string>
  readonly fates: Fates
  readonly witness: Witness
}

const without = (program: Program, masked: ReadonlySet<string>): Program => ({
  ...program,
  processes: program.processes.map((process) => ({
    ...process,
    workers: process.workers.map((steps) => steps.filter(({ id }) => !masked.has(id))),
  })),
})

/** Who takes part in a history: the server, processes of ours, and strangers; and what they are to do. */
export class Cast {
  readonly locks: readonly string[]
  readonly server: SimServer
  readonly processes: readonly SimProcess[]
  readonly strangers: readonly Redisson[]
  /** Processes and strangers. */
  readonly parties: readonly Party[]
  /** All steps, by id. */
  readonly parts: readonly string[]
  readonly #casting: Casting
  readonly #byDriver: ReadonlyMap<SimDriver, Party>

  constructor(casting: Casting) {
    const { world, random, family, weather, masked } = casting
    this.#casting = casting
    const kinds = family.kinds.map(({ name }) => name)
    const crowd = weather.name === 'calm' && !family.strangers && random.fork('crowd').chance(CROWDS)
    const program = (family.program ?? (crowd ? crowdOf : programOf))(random.fork('program'), kinds)
    this.locks = program.locks
    const machine = new Machine(world, random.fork('server'), 'server', 0)
    this.server = { machine, redis: new MemoryServer(machine) }
    this.processes = without(program, masked).processes.map((plan) => this.#process(plan))
    const plans = family.strangers ? this.#plansOfStrangers(program) : []
    this.strangers = plans.map((plan) => {
      const threads = plan.threads.map((steps) => steps.filter(({ id }) => !masked.has(id)))
      return new Redisson({ ...plan, threads }, ...this.#machine(plan), casting.witness)
    })
    this.parties = [...this.processes, ...this.strangers]
    this.#byDriver = new Map(this.parties.map((party) => [party.driver, party]))
    const steps = [...program.processes.map(({ workers }) => workers), ...plans.map(({ threads }) => threads)].flat(2)
    this.parts = steps.map(({ id }) => id)
  }

  of(driver: SimDriver): Party {
    return this.#byDriver.get(driver) as Party
  }

  /** When everything that stands still has woken, and what was done has had its consequences. */
  get awakeAt(): number {
    const times = this.parties.map(({ machine }) => machine.time)
    const troubles = this.processes.map(({ troubledUntil }) => troubledUntil)
    return Math.max(this.server.machine.time, ...times, ...troubles)
  }

  /** Who has not come to an end, in words. */
  pending(): string {
    const ours = this.processes.flatMap((process) => [...process.calls].map(({ id }) => id))
    const calls = [...ours, ...this.strangers.filter(({ waiting }) => waiting.size > 0).map(({ name }) => name)]
    return calls.length > 0 ? `still waiting: ${calls.join(', ')}` : 'some worker does not come to an end'
  }

  #machine({ name, wallOffset }: { name: string; wallOffset: number }): [Machine, SimDriver] {
    const { world, random, fates } = this.#casting
    const machine = new Machine(world, random.fork(name), name, wallOffset)
    return [machine, new SimDriver(machine, { world, server: this.server, fates, scripts: SCRIPTS })]
  }

  #process(plan: ProcessPlan): SimProcess {
    const kind = this.#casting.family.kinds.find(({ name }) => name === plan.kind) as SimKind
    return new SimProcess(plan, kind, ...this.#machine(plan))
  }

  #plansOfStrangers({ processes, locks }: Program): ReturnType<typeof strangersOf> {
    const { weather, random } = this.#casting
    const calm = weather.name === 'calm'
    const forces = processes.some(({ workers }) => workers.flat().some(({ does }) => does === 'force'))
    const manners = { patient: calm || weather.name === 'deaf', multi: calm && !forces, aim: weather.aim?.point }
    return strangersOf(random.fork('strangers'), locks, manners)
  }
}
