import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

const MARK = 'interop:mark'

/** Hears every message on the server, in its order. */
export class Spy {
  readonly #redis: Redis
  readonly #listener: Redis
  #heard: string[] = []
  #marks = 0

  private constructor(redis: Redis, listener: Redis) {
    this.#redis = redis
    this.#listener = listener
    listener.on('pmessage', (_pattern: string, channel: string, payload: string) => {
      this.#heard.push(`${channel} ${payload}`)
    })
  }

  static async start(redis: Redis, url: string): Promise<Spy> {
    const listener = new Redis(url)
    const spy = new Spy(redis, listener)
    await listener.psubscribe('*')
    return spy
  }

  /** What was published since it was asked last, as `channel payload`. */
  async take(): Promise<string[]> {
    const mark = `${MARK} ${(this.#marks += 1)}`
    await this.#redis.publish(MARK, String(this.#marks))
    while (!this.#heard.includes(mark)) await sleep(2)
    const heard = this.#heard.slice(0, this.#heard.indexOf(mark))
    this.#heard = this.#heard.slice(heard.length + 1)
    return heard
  }

  end(): void {
    this.#listener.disconnect()
  }
}

export interface Command {
  /** The command's name in lower case, and its arguments. */
  readonly words: readonly string[]
  /** `lua`, or the address of who sent it. */
  readonly source: string
}

/** What the server was asked meanwhile, without what `redis` itself sent. */
export const monitored = async (redis: Redis, work: () => Promise<void>): Promise<Command[]> => {
  const own = /\baddr=(\S+)/.exec(String(await redis.call('CLIENT', 'INFO')))?.[1]
  const monitor = await redis.monitor()
  const seen: Command[] = []
  monitor.on('monitor', (_time: string, [name = '', ...rest]: string[], source: string) => {
    seen.push({ words: [name.toLowerCase(), ...rest], source })
  })
  try {
    await work()
    await redis.ping(MARK)
    while (!seen.some(({ words }) => words[1] === MARK)) await sleep(5)
  } finally {
    monitor.disconnect()
  }
  return seen.filter(({ source }) => source !== own)
}
