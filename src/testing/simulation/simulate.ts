import { checkHistory } from '../history/check-history.js'
import { explain } from '../history/explain.js'
import { Random } from '../random.js'
import { Cast } from './cast.js'
import { FaultChooser } from './choose-faults.js'
import { familyOf, weatherOfSeed } from './families.js'
import type { Family } from './family.js'
import { Herd } from './herd.js'
import type { Fates, SimDriver } from './network.js'
import { Oracle } from './oracle.js'
import type { SimProcess } from './sim-process.js'
import { StrangersWitness } from './redisson/witness.js'
import { ServerFaults } from './server-faults.js'
import { meddle } from './stranger/meddle-with-keys.js'
import { StrangersVoice } from './stranger/voice.js'
import { Timeline } from './timeline.js'
import { type Scene, Verdict } from './verdict.js'
import type { Watch } from './watch.js'
import { World } from './world.js'

/** What came of a simulated history. */
export interface HistoryOutcome {
  /** The number that makes it again. */
  readonly seed: number
  /** What may not be, in sentences. */
  readonly violations: readonly string[]
  /** How often each fault hit each point; and what else some families count. */
  readonly counts: ReadonlyMap<string, number>
  /** How often a lock was granted. */
  readonly grants: number
  /** Steps and faults that there were, by id: what a smaller history may leave out. */
  readonly parts: readonly string[]
  /** A line for everything that happened; empty unless asked for. */
  readonly trace: readonly string[]
}

/** How a history is simulated. */
export interface HistoryChoices {
  /** Whether all that happens is written down. Default false. */
  readonly trace?: boolean
  /** Parts that are left out. Default: none. */
  readonly masked?: ReadonlySet<string>
}

/** In one of so many histories a stranger speaks who may only publish and subscribe. */
const SPOKEN_IN = 4
/** No history takes longer, ms of its own time. */
const LONGEST = 180_000
/** Who waits behind somebody who died waits until that one's allowance is over, and Redisson only then. */
const LONGEST_WITH_STRANGERS = 4 * 3_600_000
/** How long subscriptions outlive their last listener, and a little. */
const LINGERING = 2500
/** Subscriptions linger, and polls end. */
const SETTLING = 6000

/** One history from its seed: the same one each time. */
export const simulate = async (seed: number, choices: HistoryChoices = {}): Promise<HistoryOutcome> =>
  new History(seed, choices).run()

class History implements Fates {
  readonly #seed: number
  readonly #family: Family
  readonly #random: Random
  readonly #world = new World()
  readonly #timeline: Timeline
  readonly #cast: Cast
  readonly #faults: FaultChooser
  readonly #verdict: Verdict
  readonly #oracle: Watch
  /** Where nobody but ours asks, and all goes well; old Redissons' fair lock makes everybody ask. */
  readonly #herd: Herd | undefined
  readonly #calm: boolean
  readonly #aimsAtTheEnd: boolean

  constructor(seed: number, { trace = false, masked = new Set() }: HistoryChoices) {
    this.#seed = seed
    this.#random = new Random(seed).fork('history')
    this.#timeline = new Timeline(this.#world, trace)
    this.#verdict = new Verdict(this.#timeline.note)
    const family = familyOf(seed)
    this.#family = family
    const weather = weatherOfSeed(seed)
    this.#calm = weather.name === 'calm'
    this.#aimsAtTheEnd = weather.aim?.point === 'unsubscribe'
    this.#cast = new Cast({
      world: this.#world,
      random: this.#random,
      family,
      weather,
      masked,
      fates: this,
      witness: new StrangersWitness(this.#verdict, this.#timeline.note),
    })
    this.#faults = new FaultChooser(weather, this.#random.fork('chaos'), this.#cast.locks, masked)
    const scene: Scene = {
      world: this.#world,
      server: this.#cast.server,
      processes: this.#cast.processes,
      strangers: this.#cast.strangers,
      modest: this.#cast.strangers.every(({ modest }) => modest),
      kinds: family.kinds,
      locks: this.#cast.locks,
      calm: this.#calm,
      probing: this.#random.fork('probing').chance(0.6),
      note: this.#timeline.note,
    }
    this.#oracle = family.watch?.(scene, this.#verdict) ?? new Oracle(scene, this.#verdict)
    const alone = this.#calm && !family.strangers && family.name !== 'classic' && seed % SPOKEN_IN !== 1
    this.#herd = alone && family.kinds.some(({ fair }) => fair) ? new Herd(scene, this.#verdict) : undefined
    this.#timeline.note(
      '·',
      `seed ${seed}, ${weather.name}${weather.aim ? `: ${weather.aim.fault} × ${weather.aim.point}` : ''}`,
    )
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
      counts: new Map([...this.#faults.counts, ...(this.#oracle.counts ?? [])]),
      grants: this.#oracle.grants,
      parts: [...this.#cast.parts, ...this.#faults.happened],
      trace: this.#timeline.lines,
    }
  }

  #setUp(): void {
    const world = this.#world
    const server = new ServerFaults(world, this.#cast, this.#family, this.#oracle)
    server.make()
    for (const process of this.#cast.processes) {
      process.ends = (killed) => {
        this.#oracle.ended(process, killed)
      }
    }
    if (this.#seed % SPOKEN_IN === 1)
      new StrangersVoice(world, this.#random.fork('voice'), this.#cast.server, this.#timeline.note).begin()
    this.#faults.begin({
      world,
      processes: this.#cast.parties,
      note: this.#timeline.note,
      server,
    })
    this.#inviteStranger()
    const { calmFrom } = this.#family
    if (calmFrom !== undefined) world.at(calmFrom, () => (this.#faults.quiet = true))
  }

  /** In a share of the histories somebody writes to the keys who knows nothing of locks. */
  #inviteStranger(): void {
    const random = this.#random.fork('stranger with keys')
    const family = this.#family
    const { kinds } = family
    const plain = !family.strangers && family.watch === undefined && kinds[0]?.make === undefined
    if (this.#calm || !plain || !random.chance(0.2)) return
    const { server, locks } = this.#cast
    meddle({
      world: this.#world,
      redis: server.redis,
      locks,
      random,
      retimes: kinds.every((kind) => kind.malformed === undefined),
      may: (id) => !this.#faults.quiet && !this.#over() && this.#faults.mayHappen(id),
      note: this.#timeline.note,
      meddled: (name, foreign) => {
        this.#oracle.taken(name, foreign)
      },
    })
  }

  async #play(): Promise<void> {
    const world = this.#world
    this.#setUp()
    const working = new Set(this.#cast.parties)
    for (const stranger of this.#cast.strangers) {
      world.at(stranger.plan.startsAt, () => void stranger.run().then(() => working.delete(stranger)))
    }
    for (const process of this.#cast.processes) {
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
    // Work may outlast the call that wanted it.
    const works = (): boolean => this.#cast.processes.some(({ living, visits }) => living && visits.size > 0)
    const done = (): boolean => [...working].every(({ machine }) => machine.dead) && !works()
    const longest = this.#cast.strangers.length > 0 ? LONGEST_WITH_STRANGERS : LONGEST
    await world.run(longest, () => this.#over() || done(), this.#check)
    if (!this.#over() && !done()) this.#verdict.violation('hang', this.#cast.pending())
    // Who unsubscribes does so when all is over.
    if (this.#aimsAtTheEnd) await world.run(world.now + LINGERING, () => this.#over(), this.#check)
    this.#faults.quiet = true
    for (const { machine } of this.#cast.parties) machine.thaw()
    await world.run(this.#cast.awakeAt + SETTLING, () => this.#over(), this.#check)
    if (this.#over()) return
    this.#oracle.idle()
    await this.#closeAll()
    if (!this.#over()) this.#historyChecked()
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
    const workers = process.plan.workers.map((steps, w) => this.#oracle.run(`${process.name}.w${w}`, process, steps))
    await Promise.all(workers)
    this.#timeline.note(process.name, 'is done')
  }

  /** Everybody ends in time, and leaves nothing. */
  async #closeAll(): Promise<void> {
    const living = this.#cast.processes.filter(({ client, machine }) => client !== undefined && !machine.dead)
    const died = this.#cast.processes.some(({ machine, closing }) => machine.dead || closing !== undefined)
    for (const process of living) void process.close(true)
    for (const stranger of this.#cast.strangers) void stranger.close()
    await this.#world.run(this.#world.now + 1000)
    for (const process of living) {
      if (process.closedAt === undefined)
        this.#verdict.violation('close', `${process.name} is not closed after a second`)
      else this.#oracle.closed(process)
    }
    // What the dead have left is there until its lease is over.
    await this.#world.run(this.#world.now + 10_000)
    this.#oracle.gone(died)
  }

  #historyChecked(): void {
    const found = checkHistory(this.#verdict.events, { unfinished: true })
    const [first] = found
    if (first !== undefined) this.#verdict.violation('history', explain(first))
  }

  // ---- Fates -------------------------------------------------------------------------------------------------------

  request(...[driver, flight]: Parameters<Fates['request']>): ReturnType<Fates['request']> {
    return this.#faults.request(this.#cast.of(driver), flight)
  }

  message(driver: SimDriver): ReturnType<Fates['message']> {
    return this.#faults.message(this.#cast.of(driver))
  }

  reconnect(): number {
    return this.#random.chance(0.8) ? this.#random.between(5, 60) : this.#random.between(60, 1000)
  }

  sent(...[driver, flight]: Parameters<Fates['sent']>): void {
    this.#timeline.sent(this.#cast.of(driver).name, flight)
    this.#oracle.sent(this.#cast.of(driver), flight)
  }

  executing(...[driver, flight]: Parameters<Fates['executing']>): void {
    const process = this.#cast.processes.find((one) => one.driver === driver)
    if (process !== undefined) this.#herd?.executing(process, flight)
    this.#oracle.executing(flight)
  }

  executed(...[driver, flight, reply]: Parameters<Fates['executed']>): void {
    this.#timeline.executed(this.#cast.of(driver).name, flight, reply)
    this.#oracle.executed(this.#cast.of(driver), flight, reply)
  }

  heard(driver: SimDriver, channel: string): void {
    this.#timeline.note(this.#cast.of(driver).name, `hears ${channel}`)
  }

  note(who: string, text: string): void {
    this.#timeline.note(who, text)
  }
}
