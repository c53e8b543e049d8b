/** Processes of holdfast, each with a client of its own, on the embedded server and a network of constant speed, by a clock whose time costs nothing. */
import type { Client } from '#src/api/client.js'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import * as scripts from '#src/lua/scripts.gen.js'
import { Random } from '#src/testing/random.js'
import { Machine } from '#src/testing/simulation/machine.js'
import { type Fates, SimDriver } from '#src/testing/simulation/network.js'
import { World } from '#src/testing/simulation/world.js'
import { Recorder, mean, quantile } from '../base/stats.js'

export interface VirtualLoad {
  readonly processes: number
  /** Process 1 is at lock 1, and so on, from the first one again. */
  readonly locks: number
  readonly kind: 'lock' | 'fairLock'
  readonly holdMs: number
  /** Between a release and the next call, the mean: calls come at random moments. */
  readonly pauseMs: number
  readonly tripMs: number
  /** Of virtual time: what does not count, and what does. */
  readonly warm: number
  readonly seconds: number
}

/** What was counted, for each second. */
export interface VirtualFigures {
  /** By the name of the script, or of the command. */
  readonly requests: ReadonlyMap<string, number>
  readonly messages: number
  readonly visits: number
  /** ms, as it was: timers are late. */
  readonly hold: number
  /** ms: the mean, the median and p99. */
  readonly wait: number
  readonly p50: number
  readonly p99: number
}

const LEASE = 30_000
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.values(scripts).flatMap(({ name, sha, text }) => [
    [sha, name],
    [text, name],
  ]),
)

class Counts {
  readonly requests = new Map<string, number>()
  readonly waits = new Recorder()
  messages = 0
  held = 0
  visits = 0
}

class Crowd {
  readonly #load: VirtualLoad
  readonly #world = new World()
  readonly #random = new Random(1)
  readonly #counts = new Counts()

  constructor(load: VirtualLoad) {
    this.#load = load
  }

  get #counting(): boolean {
    return this.#world.now >= this.#load.warm * 1000
  }

  async run(): Promise<VirtualFigures> {
    const { processes, warm, seconds } = this.#load
    const machine = new Machine(this.#world, this.#random.fork('server'), 'server', 0)
    const server = { machine, redis: new MemoryServer(machine) }
    const network = { world: this.#world, server, fates: this.#fates(), scripts: NAMES }
    const failures: unknown[] = []
    for (let index = 0; index < processes; index++) {
      const own = new Machine(this.#world, this.#random.fork(`p${index}`), `p${index}`, 0)
      const driver = new SimDriver(own, network)
      // All at once would keep step for ever.
      this.#world.at((warm * 500 * index) / processes, () => {
        this.#work(own, driver, index).catch((error: unknown) => failures.push(error))
      })
    }
    await this.#world.run((warm + seconds) * 1000, () => failures.length > 0)
    if (failures.length > 0) throw failures[0]
    return this.#figures()
  }

  #fates(): Fates {
    const half = this.#load.tripMs / 2
    const { requests } = this.#counts
    const nothing = (): void => undefined
    return {
      request: () => ({ there: half, back: half, refusal: '', arrivesAnyway: false }),
      message: () => ({ delay: half }),
      reconnect: () => half,
      ...{ sent: nothing, executing: nothing, note: nothing },
      executed: (_driver, { op }) => {
        if (this.#counting) requests.set(op, (requests.get(op) ?? 0) + 1)
      },
      heard: () => {
        if (this.#counting) this.#counts.messages++
      },
    }
  }

  async #work(machine: Machine, driver: SimDriver, index: number): Promise<void> {
    const { kind, locks, holdMs, pauseMs } = this.#load
    const settings = settle({ url: 'memory:', watchdog: LEASE, clock: machine, label: machine.name }, {})
    const client: Client = await start(settings, driver)
    const lock = client[kind](`lock:${index % locks}`)
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => void machine.setTimer(resolve, ms))
    const pause = (): Promise<void> => sleep(-pauseMs * Math.log(1 - this.#random.next()))
    if (pauseMs > 0) await pause()
    for (;;) {
      const asked = machine.time
      const hold = await lock.acquire()
      const had = machine.time
      await sleep(holdMs)
      this.#visited(asked, had, machine.time)
      await hold.release()
      if (pauseMs > 0) await pause()
    }
  }

  #visited(asked: number, had: number, left: number): void {
    if (!this.#counting) return
    this.#counts.visits++
    this.#counts.held += left - had
    this.#counts.waits.add(had - asked)
  }

  #figures(): VirtualFigures {
    const { requests, waits, messages, held, visits } = this.#counts
    const { seconds } = this.#load
    const sorted = waits.values.sort()
    return {
      requests: new Map([...requests].map(([op, count]) => [op, count / seconds])),
      messages: messages / seconds,
      visits: visits / seconds,
      hold: held / visits,
      wait: mean([...sorted]),
      p50: quantile(sorted, 0.5),
      p99: quantile(sorted, 0.99),
    }
  }
}

export const virtualCrowd = (load: VirtualLoad): Promise<VirtualFigures> => new Crowd(load).run()
