import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Proxy, startProxy } from '../../test/support/proxy.js'
import { type RedisServer, startRedis } from '../../test/support/redis-server.js'
import { machineTime } from '../base/stats.js'
import type { Participant } from '../participants/participant.js'
import { Child } from '../processes/child.js'
import type { HolderMessage } from '../processes/holder.js'

/** ms: of every participant, so that a round takes seconds. */
export const LEASE = 3000
/** How long the bench waits until a holder learns of its loss, ms. */
const LONGEST = 4 * LEASE

const KEY = 'bench:failures'

/** One process of a library. Times are µs of the machine's clock. */
export class Party {
  readonly #child: Child

  constructor(child: Child) {
    this.#child = child
  }

  take = (): Promise<number> => this.#time('take')
  wait = (): Promise<number> => this.#time('wait')
  free = (): Promise<number> => this.#time('free')
  /** Resolves to when the event loop goes on. */
  block = (ms: number): Promise<number> => this.#time(ms)
  stop = (): void => this.#child.stop()
  cont = (): void => this.#child.cont()
  kill = (): Promise<void> => this.#child.kill()

  /** When it learned of trouble; Infinity: not within four leases. */
  async learned(): Promise<number> {
    for (const until = machineTime() + LONGEST * 1000; machineTime() < until; await sleep(20)) {
      const at = await this.#time('learned')
      if (at > 0) return at
    }
    return Infinity
  }

  async #time(message: HolderMessage | number): Promise<number> {
    const answer = await this.#child.ask(message)
    if (typeof answer !== 'number') throw new Error(String(answer))
    return answer
  }
}

/** A server, a bad line to it, and processes of one library. */
export class Stage {
  readonly #participant: Participant
  readonly #server: RedisServer
  readonly #children: Child[] = []
  readonly link: Proxy
  readonly redis: Redis

  private constructor(participant: Participant, server: RedisServer, link: Proxy) {
    this.#participant = participant
    this.#server = server
    this.link = link
    this.redis = new Redis(server.url)
  }

  static async open(participant: Participant): Promise<Stage> {
    const server = await startRedis()
    return new Stage(participant, server, await startProxy(server.port))
  }

  /** `far`: over the bad line. */
  async party(far = false): Promise<Party> {
    const url = far ? this.link.url : this.#server.url
    const child = await Child.open('holder.js', [this.#participant.name, url, KEY, `${LEASE}`])
    this.#children.push(child)
    return new Party(child)
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.cont()
    await Promise.all(this.#children.map((child) => child.end()))
    this.redis.disconnect()
    await this.link.close()
    await this.#server.stop()
  }
}
