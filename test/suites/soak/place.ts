import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { WorldEvent } from 'holdfast/testing'
import type { RedisServer } from '../../support/redis-server.js'
import { startRedis } from '../../support/redis-server.js'
import { Seat } from './crew.js'
import { machineTime } from './log.js'
import { PROCESSES, RECOVERY } from './settings.js'

/** A server that loses nothing when it is killed, and the client processes at it, each behind its own proxy. */
export class Place {
  readonly directory: string
  readonly seats: Seat[] = []
  readonly world: WorldEvent[] = []
  readonly redis: Redis
  #server: RedisServer
  /** A fault is being done to the server. */
  busy = false

  private constructor(directory: string, server: RedisServer) {
    this.directory = directory
    this.#server = server
    this.redis = new Redis(server.url, {
      enableReadyCheck: false,
      maxRetriesPerRequest: null,
      retryStrategy: () => 50,
      autoResendUnfulfilledCommands: false,
    })
    this.redis.on('error', () => undefined)
  }

  static async open(seed: number): Promise<Place> {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-soak-'))
    process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
    await mkdir(join(directory, 'data'))
    const place = new Place(directory, await startRedis(persistent(directory)))
    for (let index = 0; index < PROCESSES; index++) {
      place.seats.push(await Seat.open(index, place.#server.port, directory, seed))
    }
    return place
  }

  get url(): string {
    return this.#server.url
  }

  get serverPid(): number {
    return this.#server.pid
  }

  /** Killed, and started again; also without what it knew. */
  async restart(keepData: boolean): Promise<void> {
    const { port } = this.#server
    await this.#server.stop()
    if (!keepData) await rm(join(this.directory, 'data'), { recursive: true })
    await mkdir(join(this.directory, 'data'), { recursive: true })
    this.#server = await startRedis([...persistent(this.directory), '--port', String(port)])
    // It may be reading its data still.
    while ((await this.redis.ping().catch(() => undefined)) === undefined) await sleep(20)
  }

  /** Notes a trouble of one process, or of all, for as long as the work takes and until they have recovered from it. */
  async troubled(note: string, seat: Seat | undefined, work: () => Promise<unknown>): Promise<void> {
    const [at, process] = [machineTime(), seat?.name]
    await work()
    this.world.push({ what: 'trouble', process, at, to: machineTime() + RECOVERY, note })
  }

  async close(): Promise<void> {
    this.redis.disconnect()
    await this.#server.stop()
    await rm(this.directory, { recursive: true, force: true })
  }
}

const persistent = (directory: string): string[] => [
  ...['--dir', join(directory, 'data')],
  ...['--appendonly', 'yes', '--appendfsync', 'always', '--auto-aof-rewrite-percentage', '0'],
]
