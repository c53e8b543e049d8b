import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import type { Client, Options } from './engines.js'
import { redisEngine, started } from './engines.js'
import { mayStay } from './leftovers.js'
import { startRedis } from './redis-server.js'
import { until } from './until.js'

const MARK = 'holdfast-test:told'

interface Seen {
  readonly words: string[]
  readonly source: string
}

/** A server of its own, and all that it is asked and tells. */
export interface Wire {
  readonly url: string
  readonly redis: Redis
  /** `<channel> <payload>`, all of them. */
  heard: string[]
  /** When all that was published before has been heard. */
  told(): Promise<void>
  /** Closed after the test. */
  open(options?: Partial<Options>): Promise<Client>
  /** All of them, now. */
  close(): Promise<void>
  /** What the server saw meanwhile, without what this test sent. */
  monitored(work: () => Promise<void>): Promise<Seen[]>
}

/** The commands within scripts. */
export const ofScripts = (seen: readonly Seen[]): string[] =>
  seen
    .filter(({ source }) => source === 'lua')
    .map(({ words: [command, ...rest] }) => [String(command).toLowerCase(), ...rest].join(' '))

/** The names of the commands that clients sent, without what belongs to connecting. */
export const requests = (seen: readonly Seen[]): string[] =>
  seen
    .filter(({ source }) => source !== 'lua')
    .map(({ words }) => String(words[0]).toLowerCase())
    .filter((command) => !['ping', 'info', 'hello', 'client', 'auth', 'select'].includes(command))

class Tap implements Wire {
  heard: string[] = []
  #marks = { sent: 0, heard: 0 }
  readonly #clients: Client[] = []
  #server: Awaited<ReturnType<typeof startRedis>> | undefined
  #redis: Redis | undefined
  #listener: Redis | undefined

  async start(): Promise<void> {
    this.#server = await startRedis()
    this.#redis = new Redis(this.url)
    this.#listener = new Redis(this.url)
    await this.#listener.psubscribe('*')
    this.#listener.on('pmessage', (_pattern: string, channel: string, payload: string) => {
      if (channel === MARK) this.#marks.heard = Number(payload)
      else this.heard.push(`${channel} ${payload}`)
    })
  }

  async stop(): Promise<void> {
    this.#redis?.disconnect()
    this.#listener?.disconnect()
    await this.#server?.stop()
  }

  get url(): string {
    assert.ok(this.#server !== undefined)
    return this.#server.url
  }

  get redis(): Redis {
    assert.ok(this.#redis !== undefined)
    return this.#redis
  }

  async told(): Promise<void> {
    const mark = (this.#marks.sent += 1)
    await this.redis.publish(MARK, String(mark))
    await until(() => this.#marks.heard >= mark)
  }

  async open(options: Partial<Options> = {}): Promise<Client> {
    const client = await connect({ url: this.url, presence: false, ...options })
    this.#clients.push(client)
    return client
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()))
  }

  async monitored(work: () => Promise<void>): Promise<Seen[]> {
    const own = /\baddr=(\S+)/.exec(String(await this.redis.call('CLIENT', 'INFO')))?.[1]
    const monitor = await this.redis.monitor()
    const seen: Seen[] = []
    monitor.on('monitor', (_time: string, words: string[], source: string) => seen.push({ words, source }))
    try {
      await work()
      await this.redis.ping('end of the work')
      for (let wait = 0; wait < 200 && !seen.some(({ words }) => words[1] === 'end of the work'); wait += 1)
        await sleep(10)
      assert.ok(seen.some(({ words }) => words[1] === 'end of the work'))
    } finally {
      monitor.disconnect()
    }
    return seen.filter(({ source }) => source !== own)
  }

  /** After each test: nothing of the clients is left. */
  async clean(): Promise<void> {
    await this.close()
    const keys = await this.redis.keys('*')
    const staying = keys.filter(mayStay)
    if (staying.length > 0) await this.redis.del(...staying)
    assert.deepEqual(await this.redis.keys('*'), [])
    assert.deepEqual(await this.redis.pubsub('CHANNELS', '*'), [])
    this.heard = []
  }
}

/** A suite on the wire; skipped where there is no server. */
export const onWire = async (title: string, tests: (wire: Wire) => void, afterwards?: () => void): Promise<void> => {
  const skip = await started({ ...redisEngine, start: async () => (await startRedis()).stop() })
  void describe(title, () => {
    if (skip !== undefined) {
      void test(title, { skip }, () => undefined)
      return
    }
    const tap = new Tap()
    before(() => tap.start())
    after(() => tap.stop())
    afterEach(async () => {
      afterwards?.()
      await tap.clean()
    })
    tests(tap)
  })
}
