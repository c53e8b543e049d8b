import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

const ACQUIRE = `
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`

const RELEASE = `
local done = redis.call('get', KEYS[3])
if done then return tonumber(done) end
if redis.call('hexists', KEYS[1], ARGV[3]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  redis.call('set', KEYS[3], 0, 'px', ARGV[5])
  return 0
end
redis.call('del', KEYS[1])
redis.call(ARGV[4], KEYS[2], ARGV[1])
redis.call('set', KEYS[3], 1, 'px', ARGV[5])
return 1`

const prefixed = (prefix: string, name: string): string =>
  name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`

export const channelOf = (name: string): string => prefixed('redisson_lock__channel', name)

/** Does to a lock what Redisson's plain lock does, command by command. */
export class RedissonActor {
  readonly #commands: Redis
  readonly #messages: Redis
  readonly #wake = new Set<() => void>()
  readonly heard: string[] = []
  readonly owner: string
  #requests = 0

  constructor(
    url: string,
    readonly name: string,
    thread: number,
    readonly id: string = crypto.randomUUID(),
  ) {
    this.#commands = new Redis(url)
    this.#messages = new Redis(url)
    this.owner = `${this.id}:${thread}`
    this.#messages.on('message', (_channel: string, payload: string) => {
      this.heard.push(payload)
      for (const wake of this.#wake) wake()
    })
  }

  /** `null` when it was had, else the time left of whoever has it. */
  async try(lease = 30_000): Promise<number | null> {
    return (await this.#commands.eval(ACQUIRE, 1, this.name, lease, this.owner)) as number | null
  }

  /** 1: freed; 0: one level less; `null`: not its own. */
  async release(lease = 30_000): Promise<number | null> {
    this.#requests += 1
    const latch = `${prefixed('redisson_unlock_latch', this.name)}:${this.#requests.toString(16).padStart(32, '0')}`
    const keys = [this.name, channelOf(this.name), latch]
    const freed = await this.#commands.eval(RELEASE, 3, ...keys, '0', lease, this.owner, 'publish', 16_000)
    await this.#commands.del(latch)
    return freed as number | null
  }

  /** The wait loop: try, subscribe, try, wait for a message or the time left, try… Says how many tries it took. */
  async lock(lease = 30_000): Promise<number> {
    if ((await this.try(lease)) === null) return 1
    await this.#messages.subscribe(channelOf(this.name))
    try {
      for (let tries = 2; ; tries += 1) {
        const left = await this.try(lease)
        if (left === null) return tries
        const over = new AbortController()
        const woken = new Promise<void>((resolve) => {
          const wake = (): void => {
            this.#wake.delete(wake)
            resolve()
          }
          this.#wake.add(wake)
        })
        await Promise.race([woken, sleep(left, undefined, { signal: over.signal }).catch(() => undefined)])
        over.abort()
      }
    } finally {
      await this.#messages.unsubscribe(channelOf(this.name))
    }
  }

  close(): void {
    this.#commands.disconnect()
    this.#messages.disconnect()
  }
}
