/**
 * Many clients in one process, each with connections of its own: `clients-process.js WHO URL FROM COUNT`, with --expose-gc. Does what the parent says by
 * messages. It ends as by a crash: the parent stops the server.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, type Hold, type Lock, connect } from 'holdfast'
import { Redis } from 'ioredis'
import { type Back, type ClientsMessage, HOLD, LOCKS, type Who } from './clients-plan.js'
import { cpu, heap } from './own-usage.js'

const [who = 'holdfast', url = '', from = '', number = ''] = process.argv.slice(2)
const first = Number(from)
const count = Number(number)

/** How many connect at a time: the server lets no more than a few hundred of all processes stand before its door. */
const ABREAST = 20
/** Clients that only warm up the code. */
const WARM = 40
/** ms. A caller that was refused asks again after a pause between this and three times as much. */
const AGAIN = 100

const ignore = (): void => undefined

interface Member {
  back: boolean
  readonly granted: Set<number>
  own(): Promise<void>
  share(): Promise<void>
  close(): unknown
}

class HoldfastMember implements Member {
  readonly #client: Client
  readonly #index: number
  #hold: Hold | undefined
  #shares = false
  back = false
  readonly granted = new Set<number>()

  private constructor(client: Client, index: number) {
    this.#client = client
    this.#index = index
    client.on('error', ignore)
    client.on('reconnect', () => (this.back = true))
  }

  static async open(index: number): Promise<Member> {
    return new HoldfastMember(await connect(url), index)
  }

  async own(): Promise<void> {
    const hold = await this.#acquire(this.#client.lock(`bench:g2:own:${this.#index}`), this.#index)
    this.#hold = hold
    hold.signal.addEventListener('abort', () => {
      if (!this.#shares) void this.own()
    })
  }

  async share(): Promise<void> {
    this.#shares = true
    await this.#hold?.release().catch(ignore)
    const which = this.#index % LOCKS
    void this.#takeTurns(this.#client.lock(`bench:g2:shared:${which}`), which)
  }

  async #takeTurns(lock: Lock, which: number): Promise<never> {
    for (;;) {
      const hold = await this.#acquire(lock, which)
      await sleep(HOLD)
      await hold.release().catch(ignore)
    }
  }

  /** As long as the server is away, a call is refused. */
  async #acquire(lock: Lock, which: number): Promise<Hold> {
    for (;;) {
      try {
        const hold = await lock.acquire()
        this.granted.add(which)
        return hold
      } catch {
        await sleep(AGAIN * (1 + 2 * Math.random()))
      }
    }
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}

class BareMember implements Member {
  readonly #redis: Redis
  back = false
  readonly granted = new Set<number>()

  private constructor(redis: Redis) {
    this.#redis = redis
    redis.on('error', ignore)
    redis.on('ready', () => (this.back = true))
  }

  static async open(): Promise<Member> {
    const redis = new Redis(url)
    const member = new BareMember(redis)
    await redis.ping()
    return member
  }

  own = (): Promise<void> => Promise.resolve()
  share = this.own

  close(): void {
    this.#redis.disconnect()
  }
}

const openOne = (index: number): Promise<Member> =>
  (who as Who) === 'bare' ? BareMember.open() : HoldfastMember.open(index)

const members: Member[] = []

/** For each of so many numbers, some at a time. */
const someAtATime = async <T>(many: number, work: (index: number) => Promise<T>): Promise<T[]> => {
  const done: T[] = []
  while (done.length < many) {
    const some = Array.from({ length: Math.min(ABREAST, many - done.length) }, (_, i) => work(done.length + i))
    done.push(...(await Promise.all(some)))
  }
  return done
}

const warmUp = async (): Promise<void> => {
  for (const one of await someAtATime(WARM, (index) => openOne(first + index))) await one.close()
}

await warmUp()
const before = await heap()

const answers: Readonly<Record<ClientsMessage, () => Promise<unknown> | Back | number | undefined>> = {
  connect: async () => members.push(...(await someAtATime(count, (index) => openOne(first + index)))),
  own: () => someAtATime(count, (index) => members[index]!.own()),
  share: () => someAtATime(count, (index) => members[index]!.share()),
  /** Bytes more than without clients. */
  memory: async () => (await heap()) - before,
  cpu,
  forget: () => {
    for (const member of members) {
      member.back = false
      member.granted.clear()
    }
    return undefined
  },
  back: () => ({
    connected: members.filter(({ back }) => back).length,
    granted: [...new Set(members.flatMap(({ granted }) => [...granted]))],
  }),
}

process.on('message', (message: ClientsMessage | 'end') => {
  if (message === 'end') process.exit()
  void (async () => process.send?.((await answers[message]()) ?? 'done'))()
})
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
process.send?.('ready')
