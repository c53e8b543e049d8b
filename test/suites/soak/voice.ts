import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Random } from '#src/testing/random.js'
import { Forger, type Said } from '#src/testing/simulation/stranger/forger.js'

/** Between two messages that nothing led to, ms at most. */
const PAUSE = 40
/** For so long it listens to everybody, then for as long to nobody: whoever listens counts among those who hear a message. */
const LISTENS = 5000

/** A stranger who may publish and subscribe, and reaches no key: whatever it says costs nothing but questions. */
export class StrangersVoice {
  said = 0
  readonly #redis: Redis
  readonly #ears: Redis
  readonly #random: Random
  readonly #forger: Forger
  readonly #own = new Set<string>()
  #going: Promise<unknown> | undefined
  #ended = false

  constructor(url: string, seed: number) {
    const options = { retryStrategy: () => 100, maxRetriesPerRequest: 0, enableOfflineQueue: false } as const
    this.#redis = new Redis(url, options)
    this.#ears = new Redis(url, { ...options, enableOfflineQueue: true, maxRetriesPerRequest: null })
    for (const redis of [this.#redis, this.#ears]) redis.on('error', () => undefined)
    this.#random = new Random(seed)
    this.#forger = new Forger(this.#random, Date.now)
    this.#ears.on('pmessage', (_pattern, channel: string, payload: string) => this.#hear({ channel, payload }))
  }

  begin(): void {
    this.#going = Promise.all([this.#speak(), this.#listen()])
  }

  async end(): Promise<void> {
    this.#ended = true
    await this.#going
    for (const redis of [this.#redis, this.#ears]) redis.disconnect()
  }

  async #speak(): Promise<void> {
    for (; !this.#ended; await sleep(PAUSE * this.#random.next())) await this.#one()
  }

  async #listen(): Promise<void> {
    for (let on = true; !this.#ended; on = !on) {
      await (on ? this.#ears.psubscribe('*') : this.#ears.punsubscribe('*')).catch(() => undefined)
      for (let ms = 0; ms < LISTENS && !this.#ended; ms += 100) await sleep(100)
    }
  }

  #hear(said: Said): void {
    if (this.#own.delete(`${said.channel} ${said.payload}`)) return
    this.#forger.hear(said)
    // Right behind what it heard.
    if (this.#random.chance(0.3)) void this.#one()
  }

  async #one(): Promise<void> {
    try {
      const channels = (await this.#redis.call('PUBSUB', 'CHANNELS', '*')) as string[]
      if (channels.length === 0) return
      const { channel, payload } = this.#forger.next(channels)
      if (this.#own.size > 1000) this.#own.clear()
      this.#own.add(`${channel} ${payload}`)
      await this.#redis.publish(channel, payload)
      this.said += 1
    } catch {
      // The server is away.
    }
  }
}
