import { MemoryServer } from '../../engine/memory/server.js'
import * as scripts from '../../lua/scripts.gen.js'
import { checkHistory } from '../history/check.js'
import { explain } from '../history/explain.js'
import { Random } from '../random.js'
import { Chaos } from './chaos.js'
import { pairsOf, weatherOf } from './faults.js'
import { FAMILIES, type SimKind, familyOf } from './kinds.js'
import { Machine } from './machine.js'
import type { Fates } from './fates.js'
import { SimDriver, type SimServer } from './network.js'
import { Oracle } from './oracle.js'
import { SimProcess } from './process.js'
import { type Program, programOf } from './program.js'
import { Timeline } from './timeline.js'
import { Verdict } from './verdict.js'
import { Worker } from './worker.js'
import { World } from './world.js'

export interface HistoryOutcome {
  readonly seed: number
  readonly violations: readonly string[]
  /** How often each fault hit each point. */
  readonly counts: ReadonlyMap<string, number>
  readonly grants: number
  /** Steps and faults that there were, by id: what a smaller history may leave out. */
  readonly parts: readonly string[]
  /** A line for everything that happened; empty unless asked for. */
  readonly trace: readonly string[]
}

export interface HistoryChoices {
  readonly trace?: boolean
  /** Parts that are left out. */
  readonly masked?: ReadonlySet<string>
}

/** The name of each script by its SHA and by its text. */
const SCRIPTS: ReadonlyMap<string, string> = new Map(
  Object.values(scripts).flatMap(({ name, sha, text }) => [
    [sha, name],
    [text, name],
  ]),
)

const scriptsOf = (kinds: readonly SimKind[]): string[] => [...new Set(kinds.flatMap(({ scripts }) => scripts))]

export const PAIRS = pairsOf(scriptsOf(FAMILIES.flat()))
const PAIRS_OF = new Map(FAMILIES.map((kinds) => [kinds, pairsOf(scriptsOf(kinds))]))

/** No history takes longer, ms of its own time. */
const LONGEST = 180_000
/** How long subscriptions outlive their last listener, and a little. */
const LINGERING = 2500
/** Subscriptions linger, and polls end. */
const SETTLING = 6000

const without = (program: Program, masked: ReadonlySet<string>): Program => ({
  ...program,
  processes: program.processes.map((process) => ({
    ...process,
    workers: process.workers.map((steps) => steps.filter(({ id }) => !masked.has(id))),
  })),
})

/** One history from its seed: the same one each time. */
export const simulate = async (seed: number, choices: HistoryChoices = {}): Promise<HistoryOutcome> =>
  new History(seed, choices).run()

class History implements Fates {
  readonly #seed: number
  readonly #random: Random
  readonly #kinds: readonly SimKind[]
  readonly #world = new World()
  readonly #timeline: Timeline
  readonly #program: Program
  readonly #server: SimServer
  readonly #chaos: Chaos
  readonly #verdict: Verdict
  readonly #oracle: Oracle
  readonly #processes: SimProcess[]
  readonly #parts: string[]
  readonly #byDriver = new Map<SimDriver, SimProcess>()
  readonly #calm: boolean
  readonly #aimsAtTheEnd: boolean

  constructor(seed: number, { trace = false, masked = new Set() }: HistoryChoices) {
    this.#seed = seed
    this.#kinds = familyOf(seed)
    this.#random = new Random(seed).fork('history')
    this.#timeline = new Timeline(this.#world, trace)
    this.#verdict = new Verdict(this.#timeline.note)
    const program = programOf(
      this.#random.fork('program'),
      this.#kinds.map(({ name }) => name),
    )
    this.#parts = program.processes.flatMap(({ workers }) => workers.flat().map(({ id }) => id))
    this.#program = without(program, masked)
    const weather = weatherOf(this.#random.fork('weather'), PAIRS_OF.get(this.#kinds) ?? [])
    this.#calm = weather.name === 'calm'
    this.#aimsAtTheEnd = weather.aim?.point === 'unsubscribe'
    const machine = new Machine(this.#world, this.#random.fork('server'), 'server', 0)
    this.#server = { machine, redis: new MemoryServer(machine) }
    this.#chaos = new Chaos(weather, this.#random.fork('chaos'), this.#program.locks, masked)
    this.#processes = this.#program.processes.map((plan) => this.#process(plan))
    this.#oracle = new Oracle(
      {
        world: this.#world,
        server: this.#server,
        processes: this.#processes,
        kinds: this.#kinds,
        locks: this.#program.locks,
        calm: this.#calm,
        probing: this.#random.fork('probing').chance(0.6),
        note: this.#timeline.note,
      },
      this.#verdict,
    )
    this.#timeline.note(
      '·',
      `seed ${seed}, ${weather.name}${weather.aim ? `: ${weather.aim.fault} × ${weather.aim.point}` : ''}`,
    )
  }

  #process(plan: Program['processes'][number]): SimProcess {
    const machine = new Machine(this.#world, this.#random.fork(plan.name), plan.name, plan.wallOffset)
    const driver = new SimDriver(this.#world, machine, this.#server, this, SCRIPTS)
    const process = new SimProcess(plan, this.#kinds.find(({ name }) => name === plan.kind) as SimKind, machine, driver)
    this.#byDriver.set(driver, process)
    return process
  }

  async run(): Promise<HistoryOutcome> {
    const escaped = (error: unknown): void => {
      this.#verdict.violation('escaped', error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
    process.on('unhandledRejection', escaped)
    try {
      await this.#play()
    } finally {
      process.off('unhandledRejection', escaped)
    }
    return {
      seed: this.#seed,
      violations: this.#verdict.violations,
      counts: this.#chaos.counts,
      grants: this.#oracle.grants,
      parts: [...this.#parts, ...this.#chaos.happened],
      trace: this.#timeline.lines,
    }
  }

  #setUp(): void {
    const world = this.#world
    for (const process of this.#processes) {
      process.ends = (killed) => {
        this.#oracle.ended(process, killed)
      }
    }
    this.#chaos.begin({
      world,
      processes: this.#processes,
      note: this.#timeline.note,
      server: (fault, ms) => {
        this.#serverFault(fault, ms)
      },
      take: (name, tell) => {
        this.#take(name, tell)
      },
    })
  }

  async #play(): Promise<void> {
    const world = this.#world
    this.#setUp()
    const working = new Set(this.#processes)
    for (const process of this.#processes) {
      world.at(process.plan.startsAt, () => {
        this.#start(process).then(
          () => working.delete(process),
          (error: unknown) => {
            working.delete(process)
            // A server that cannot be reached yet is no fault of the client's.
            if (this.#calm) this.#verdict.violation('start', String(error))
          },
        )
      })
    }
    const done = (): boolean => [...working].every(({ machine }) => machine.dead)
    await world.run(LONGEST, () => this.#over() || done(), this.#check)
    if (!this.#over() && !done()) this.#verdict.violation('hang', this.#pending())
    // Who unsubscribes does so when all is over.
    if (this.#aimsAtTheEnd) await world.run(world.now + LINGERING, () => this.#over(), this.#check)
    this.#chaos.quiet = true
    for (const { machine } of this.#processes) machine.thaw()
    await world.run(this.#awake() + SETTLING, () => this.#over(), this.#check)
    if (this.#over()) return
    this.#oracle.idle()
    await this.#closeAll()
    if (!this.#over()) this.#historyChecked()
  }

  /** When everything that stands still has woken, and what was done has had its consequences. */
  #awake(): number {
    const times = this.#processes.flatMap(({ machine, troubledUntil }) => [machine.time, troubledUntil])
    return Math.max(this.#server.machine.time, ...times)
  }

  readonly #check = (): void => {
    this.#oracle.check()
  }

  /** What is wrong once goes on being wrong. */
  #over(): boolean {
    return this.#verdict.violations.length > 0
  }

  async #start(process: SimProcess): Promise<void> {
    await process.connect()
    this.#timeline.note(process.name, `connected: ${process.kind.name}, watchdog ${process.plan.watchdog}`)
    const others = this.#processes
    const workers = process.plan.workers.map((steps, w) =>
      new Worker(`${process.name}.w${w}`, process, this.#oracle, others).run(steps),
    )
    await Promise.all(workers)
    this.#timeline.note(process.name, 'is done')
  }

  /** Everybody ends in time, and leaves nothing. */
  async #closeAll(): Promise<void> {
    const living = this.#processes.filter(({ client, machine }) => client !== undefined && !machine.dead)
    const gone = this.#processes.some(({ machine, closing }) => machine.dead || closing !== undefined)
    for (const process of living) void process.close(true)
    await this.#world.run(
      this.#world.now + 1000,
      () => false,
      () => undefined,
    )
    for (const process of living) {
      if (process.closedAt === undefined)
        this.#verdict.violation('close', `${process.name} is not closed after a second`)
      else this.#oracle.closed(process)
    }
    // What the dead have left is there until its lease is over.
    await this.#world.run(
      this.#world.now + 10_000,
      () => false,
      () => undefined,
    )
    const { redis } = this.#server
    for (const name of this.#program.locks) {
      if (redis.database.get(name) !== undefined) this.#verdict.violation('left over', `the key '${name}'`)
      // Who died in the line, or was closed out of reach, stands there until somebody else comes.
      const waiting = this.#kinds[0]?.line?.(redis, name) ?? []
      if (!gone && waiting.length > 0)
        this.#verdict.violation('left over', `${waiting.join(', ')} in the line for '${name}'`)
    }
    const channels = redis.pubsub.channels(false)
    if (channels.length > 0) this.#verdict.violation('left over', `subscriptions to ${channels.join(', ')}`)
  }

  #historyChecked(): void {
    const found = checkHistory(this.#verdict.events, { unfinished: true })
    const [first] = found
    if (first !== undefined) this.#verdict.violation('history', explain(first))
  }

  #pending(): string {
    const calls = this.#processes.flatMap((process) => [...process.calls].map(({ id }) => id))
    return calls.length > 0 ? `still waiting: ${calls.join(', ')}` : 'some worker does not come to an end'
  }

  #serverFault(fault: string, ms: number): void {
    const { machine, redis } = this.#server
    for (const process of this.#processes) process.troubled('server stopped', ms)
    if (fault === 'server stopped') {
      machine.stop(ms)
      return
    }
    redis.scripts.flush()
    if (fault === 'server wiped') {
      this.#oracle.wiped()
      redis.database.clear()
    }
    for (const { driver } of this.#processes) {
      driver.cut()
      driver.cutMessages()
    }
  }

  #take(name: string, tell: boolean): void {
    this.#oracle.server.disturb(name)
    this.#server.redis.execute(['DEL', name])
    if (tell) this.#server.redis.execute(['PUBLISH', `redisson_lock__channel:{${name}}`, '0'])
  }

  // ---- Fates -------------------------------------------------------------------------------------------------------

  #of(driver: SimDriver): SimProcess {
    return this.#byDriver.get(driver) as SimProcess
  }

  request(...[driver, flight]: Parameters<Fates['request']>): ReturnType<Fates['request']> {
    return this.#chaos.request(this.#of(driver), flight)
  }

  message(driver: SimDriver): ReturnType<Fates['message']> {
    return this.#chaos.message(this.#of(driver))
  }

  reconnect(): number {
    return this.#random.chance(0.8) ? this.#random.between(5, 60) : this.#random.between(60, 1000)
  }

  sent(...[driver, flight]: Parameters<Fates['sent']>): void {
    this.#timeline.sent(this.#of(driver).name, flight)
    this.#oracle.server.sent(this.#of(driver), flight)
  }

  executing(...[, flight]: Parameters<Fates['executing']>): void {
    this.#oracle.server.executing(flight)
  }

  executed(...[driver, flight, reply]: Parameters<Fates['executed']>): void {
    this.#timeline.executed(this.#of(driver).name, flight, reply)
    this.#oracle.server.executed(this.#of(driver), flight, reply)
  }

  heard(driver: SimDriver, channel: string): void {
    this.#timeline.note(this.#of(driver).name, `hears ${channel}`)
  }

  note(who: string, text: string): void {
    this.#timeline.note(who, text)
  }
}
