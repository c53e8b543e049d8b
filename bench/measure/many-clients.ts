import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis } from '../../test/support/redis-server.js'
import type { Figures } from '../base/result.js'
import { machineTime } from '../base/stats.js'
import { Child } from '../processes/child.js'
import { type Back, type ClientsMessage, LOCKS, type Who } from '../processes/clients-plan.js'
import { NOTHING, type Reading, ServerMeter, requestsBetween } from './server-meter.js'

const PROCESSES = 8
/** ms. A process may take so long to connect all of its clients. */
const PATIENCE = 300_000
/** ms. The server is away for so long, and then each second counts until there have been so many. */
const AWAY = 1000
const SECOND = 1000
/** ms between two looks at who is back. */
const LOOK = 100
/** What clients send by themselves, and no script calls. */
const DIRECT = ['set', 'ping', 'info']
/** Connections of others, and files of the server's own. */
const SPARE = 96

/** How many connections a server can have here. */
const mostConnections = (): number => {
  const [, most = '4096'] = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return Number(most) - SPARE
}

/** Each client that waits has two connections. */
export const mostClients = (wanted: number): number => Math.min(wanted, Math.floor(mostConnections() / 2))

interface Plan {
  readonly who: Who
  readonly clients: number
  /** How long each state is looked at. */
  readonly seconds: number
  /** How many seconds after a restart are looked at. */
  readonly after: number
}

/** The clients, in their processes, and the server, which is killed and started again. */
class ManyClients {
  readonly #clients: number
  readonly #children: Child[] = []
  #redis: RedisServer
  #meter: ServerMeter
  /** Bytes that the server uses without clients. */
  #empty = 0

  private constructor(clients: number, redis: RedisServer) {
    this.#clients = clients
    this.#redis = redis
    this.#meter = new ServerMeter(redis.url)
  }

  static async open({ who, clients }: Plan): Promise<ManyClients> {
    const all = new ManyClients(clients, await startRedis(settings()))
    try {
      for (let from = 0, left = PROCESSES; left > 0; left--) {
        const some = Math.ceil((clients - from) / left)
        const args = [who, all.#redis.url, String(from), String(some)]
        all.#children.push(await Child.open('clients-process.js', args, ['--expose-gc']))
        from += some
      }
      return all
    } catch (error) {
      await all.end()
      throw error
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.kill()))
    this.#meter.end()
    await this.#redis.stop()
  }

  ask<T>(message: ClientsMessage): Promise<T[]> {
    return Promise.all(this.#children.map((child) => child.ask(message, PATIENCE) as Promise<T>))
  }

  async #cpu(): Promise<number> {
    return (await this.ask<number>('cpu')).reduce((sum, one) => sum + one, 0)
  }

  /** For each client; µs and kB. */
  async #spent(work: () => Promise<unknown>): Promise<Figures> {
    const [cpu, before, from] = [await this.#cpu(), await this.#meter.read(), machineTime()]
    await work()
    const [after, clientCpu, elapsed] = [await this.#meter.read(), (await this.#cpu()) - cpu, machineTime() - from]
    const each = this.#clients
    return {
      clientCpu: clientCpu / each,
      serverCpu: (after.cpu - before.cpu) / each,
      requests: requestsBetween(before, after, DIRECT) / each,
      commands: (after.commands - before.commands) / each,
      seconds: elapsed / 1e6,
    }
  }

  async connect(): Promise<Figures> {
    this.#empty = (await this.#meter.read()).memory
    const spent = await this.#spent(() => this.ask('connect'))
    return { ...spent, ...(await this.#memory()) }
  }

  /** kB for each client more than without clients. */
  async #memory(): Promise<Figures> {
    const heaps = await this.ask<number>('memory')
    const each = (bytes: number): number => bytes / this.#clients / 1000
    const { memory } = await this.#meter.read()
    return { heap: each(heaps.reduce((sum, one) => sum + one, 0)), serverMemory: each(memory - this.#empty) }
  }

  /** In each second. */
  async rest(seconds: number): Promise<Figures> {
    const spent = await this.#spent(() => sleep(seconds * SECOND))
    const perSecond = ['clientCpu', 'serverCpu', 'requests', 'commands'].map((key) => [
      key,
      spent[key]! / spent['seconds']!,
    ])
    return { ...(Object.fromEntries(perSecond) as Figures), ...(await this.#memory()) }
  }

  /** The server is killed with all that it knows, and started again. `granted`: how many locks must be granted again. */
  async restart(granted: number, seconds: number): Promise<Figures> {
    this.#meter.end()
    const { port } = this.#redis
    await this.#redis.stop()
    // What was granted before does not count.
    await this.ask('forget')
    await sleep(AWAY)
    this.#redis = await startRedis([...settings(), '--port', String(port)])
    this.#meter = new ServerMeter(this.#redis.url)
    const from = performance.now()
    const [readings, over] = await Promise.all([this.#eachSecond(from, seconds), this.#over(granted, from, seconds)])
    return { over, ...this.#storm(readings) }
  }

  async #eachSecond(from: number, seconds: number): Promise<[at: number, reading: Reading][]> {
    const readings: [number, Reading][] = [[from, NOTHING]]
    for (let second = 1; second <= seconds; second++) {
      await sleep(Math.max(0, from + second * SECOND - performance.now()))
      readings.push([performance.now(), await this.#meter.read()])
    }
    return readings
  }

  /** Seconds until all clients were connected, and all locks granted again. Infinity: they were not. */
  async #over(granted: number, from: number, seconds: number): Promise<number> {
    while (performance.now() < from + seconds * SECOND) {
      const all = await this.ask<Back>('back')
      const connected = all.reduce((sum, one) => sum + one.connected, 0)
      const locks = new Set(all.flatMap((one) => one.granted))
      if (connected === this.#clients && locks.size >= granted) return (performance.now() - from) / SECOND
      await sleep(LOOK)
    }
    return Infinity
  }

  /** Of a client in a second: the most, and the mean. */
  #storm(readings: readonly (readonly [at: number, reading: Reading])[]): Figures {
    const perSecond = readings.slice(1).map(([at, reading], i) => {
      const [since, before] = readings[i]!
      return (SECOND * requestsBetween(before, reading, DIRECT)) / (at - since) / this.#clients
    })
    const last = readings.at(-1)![1]
    const all = this.#clients * perSecond.length
    return {
      worst: Math.max(...perSecond),
      mean: perSecond.reduce((sum, one) => sum + one, 0) / perSecond.length,
      afterwards: last.commands / all,
      connections: last.connections / this.#clients,
    }
  }
}

const settings = (): string[] => ['--maxclients', String(mostConnections())]

/** What a client costs when it has connected, while it holds a lock of its own, and while it shares one; and what a restart of the server does to both. */
export const manyClients = async (plan: Plan): Promise<{ connected: Figures; own: Figures; shared: Figures }> => {
  const { clients, seconds, after, who } = plan
  const all = await ManyClients.open(plan)
  const locks = who === 'holdfast' ? clients : 0
  try {
    const connected = await all.connect()
    await all.ask('own')
    const own = { ...(await all.rest(seconds)), ...(await all.restart(locks, after)) }
    await all.ask('share')
    const shared = { ...(await all.rest(seconds)), ...(await all.restart(Math.min(locks, LOCKS), after)) }
    return { connected, own, shared }
  } finally {
    await all.end()
  }
}
