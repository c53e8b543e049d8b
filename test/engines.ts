import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { Redis } from 'ioredis'
import { systemClock } from '#src/core/clock.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import type { Proxy } from './support/proxy.js'
import { startProxy } from './support/proxy.js'
import { startRedis } from './support/redis-server.js'

export type Client = Awaited<ReturnType<typeof connect>>
export type Options = Exclude<NonNullable<Parameters<typeof connect>[0]>, string | URL>
export type Word = string | number

/** What one test gets: a server of its own (or a database of its own) and a way to let time pass. */
export interface World {
  readonly engine: string
  readonly virtual: boolean
  /** Where time is virtual. */
  readonly clock: ReturnType<typeof virtualClock> | undefined
  readonly url: string
  /** Unique in the run. */
  readonly id: string
  /** How late something may come: nothing under a virtual clock, much on a loaded machine. */
  readonly slack: number
  /** How long whoever waits may take to notice a release, beyond what a message takes. */
  readonly patience: number
  /** Set by a test that leaves leases behind on purpose. */
  leavesKeys: boolean
  /** Closed after the test. */
  connect(options?: Partial<Options>): Promise<Client>
  raw(...argv: Word[]): Promise<unknown>
  messages(channel: string): Promise<string[]>
  now(): number
  /** Inside a task that runs beside others. */
  pause(ms: number): Promise<void>
  /** On the test's main line: lets time pass. */
  pass(ms: number): Promise<void>
  /** On the test's main line: lets time pass until the promise has settled. */
  run<T>(promise: Promise<T>): Promise<T>
  eventually(condition: () => Promise<boolean> | boolean, limit?: number): Promise<void>
  finish(): Promise<void>
}

export interface Engine {
  readonly name: string
  readonly virtual: boolean
  readonly concurrency: number
  start?(): Promise<void>
  stop?(): Promise<void>
  /** `defaults`: what all clients of the test are connected with. */
  open(defaults?: Partial<Options>): Promise<World>
}

interface Ways {
  readonly url: string
  readonly defaults: Partial<Options>
  readonly patience?: number
  readonly clock?: ReturnType<typeof virtualClock>
  /** A connection of the caller's own for each client; ended after the test. */
  lend?(): Promise<object>
  raw(...argv: Word[]): Promise<unknown>
  messages(channel: string): Promise<string[]>
  silence(): Promise<void> | void
  end(): Promise<void> | void
}

export const PATIENCE = 60_000
let worlds = 0

const within = async <T>(promise: Promise<T>, ms: number): Promise<T> => {
  const guard = new AbortController()
  const late = sleep(ms, undefined, { signal: guard.signal }).then(
    () => assert.fail(`not settled within ${ms} ms`),
    () => promise,
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    guard.abort()
    late.catch(() => undefined)
  }
}

/** Fencing tokens are counted on for ever. */
const isCounter = (key: string): boolean => key.startsWith('redisson_lock_token:')

const build = (engine: string, id: string, ways: Ways): World => {
  const { clock, raw } = ways
  const clients: Client[] = []
  const now = clock === undefined ? () => performance.now() : () => clock.now()
  const pause = (ms: number): Promise<void> =>
    clock === undefined
      ? sleep(ms, undefined)
      : new Promise((resolve) => {
          clock.setTimer(resolve, ms)
        })
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    if (clock === undefined) return within(promise, PATIENCE)
    let settled = false
    const settle = (): void => {
      settled = true
    }
    promise.then(settle, settle)
    const limit = clock.now() + 2 * PATIENCE
    for (await clock.advance(0); !settled; await clock.advance(5)) {
      if (clock.now() > limit) assert.fail(`not settled within ${2 * PATIENCE} virtual ms`)
    }
    return promise
  }
  const pass = async (ms: number): Promise<void> => {
    await (clock === undefined ? sleep(ms) : clock.advance(ms))
  }
  const world: World = {
    engine,
    url: ways.url,
    id,
    virtual: clock !== undefined,
    clock,
    slack: clock === undefined ? 2500 : 60,
    patience: ways.patience ?? 0,
    leavesKeys: false,
    now,
    pause,
    pass,
    run,
    raw: (...argv) => raw(...argv),
    messages: (channel) => ways.messages(channel),
    async connect(options = {}) {
      const place = ways.lend === undefined ? { url: ways.url } : { connection: await ways.lend() }
      const own = { ...place, ...(clock === undefined ? {} : { clock }) }
      const client = await run(connect({ ...own, ...ways.defaults, ...options }))
      clients.push(client)
      return client
    },
    async eventually(condition, limit = 20_000) {
      const end = now() + limit
      while (!(await condition())) {
        if (now() > end) assert.fail(`not so within ${limit} ms`)
        await pass(10)
      }
    },
    async finish() {
      await run(Promise.all(clients.map((client) => client.close())))
      await ways.silence()
      const channels = (await raw('PUBSUB', 'CHANNELS', '*')) as string[]
      const keys = world.leavesKeys ? [] : ((await raw('KEYS', '*')) as string[]).filter((key) => !isCounter(key))
      await ways.end()
      assert.deepEqual(
        channels.filter((channel) => channel.includes(id)),
        [],
        'a channel is left',
      )
      assert.deepEqual(keys, [], 'a key is left')
    },
  }
  return world
}

const decoded = (reply: unknown): unknown => {
  if (Array.isArray(reply)) return reply.map(decoded)
  return typeof reply === 'string' ? Buffer.from(reply, 'latin1').toString() : reply
}

const memory = (name: string, virtual: boolean): Engine => ({
  name,
  virtual,
  concurrency: virtual ? 1 : 32,
  open: (defaults = {}) => {
    const id = `m${(worlds += 1)}-${process.pid}`
    const clock = virtual ? virtualClock(worlds) : undefined
    const server = openMemoryServer(id, clock ?? systemClock)
    const listeners: Parameters<typeof server.pubsub.leave>[0][] = []
    const raw = async (...argv: Word[]): Promise<unknown> => {
      const reply = decoded(server.execute(argv.map((word) => Buffer.from(String(word)).toString('latin1'))))
      if (reply instanceof Error) throw reply
      return reply
    }
    return Promise.resolve(
      build(name, id, {
        url: `memory:${id}`,
        defaults,
        ...(clock === undefined ? {} : { clock }),
        raw,
        messages(channel) {
          const payloads: string[] = []
          const listener = {
            message: (_channel: string, payload: string) => {
              payloads.push(payload)
            },
          }
          server.pubsub.subscribe(listener, channel, 'plain')
          listeners.push(listener)
          return Promise.resolve(payloads)
        },
        silence() {
          for (const listener of listeners) server.pubsub.leave(listener)
        },
        end() {
          closeMemoryServer(server)
        },
      }),
    )
  },
})

/** Without messages a release is found out by asking, once a second. */
const POLL = 1200

/** Of the caller's own, to this URL, and how it ends. */
export type Lend = (url: string) => Promise<{ readonly connection: object; end(): unknown }>

const redis = (name: string, silent: boolean, lend?: Lend, concurrency = 32): Engine => {
  let proxy: Proxy | undefined
  let server: Awaited<ReturnType<typeof startRedis>> | undefined
  let listener: Redis | undefined
  let database = 0
  const heard = new Map<string, string[]>()
  return {
    name,
    virtual: false,
    concurrency,
    async start() {
      server = await startRedis(['--databases', '8192'])
      if (silent) {
        proxy = await startProxy(server.port)
        proxy.silent = true
      }
      listener = new Redis(server.url)
      listener.on('message', (channel: string, payload: string) => heard.get(channel)?.push(payload))
    },
    async stop() {
      listener?.disconnect()
      await proxy?.close()
      await server?.stop()
    },
    async open(defaults = {}) {
      assert.ok(server !== undefined && listener !== undefined)
      const spy = listener
      const number = (database += 1)
      const connection = new Redis(`${server.url}/${number}`)
      await connection.ping()
      const listened: string[] = []
      const url = `${(proxy ?? server).url}/${number}`
      const lent: { end(): unknown }[] = []
      return build(name, `r${number}-${process.pid}`, {
        url,
        defaults,
        patience: silent ? POLL : 0,
        ...(lend !== undefined && {
          async lend() {
            const one = await lend(url)
            lent.push(one)
            return one.connection
          },
        }),
        raw: (...argv) => connection.call(argv[0] as string, ...argv.slice(1)),
        async messages(channel) {
          const payloads: string[] = []
          heard.set(channel, payloads)
          listened.push(channel)
          await spy.subscribe(channel)
          return payloads
        },
        async silence() {
          if (listened.length > 0) await spy.unsubscribe(...listened)
        },
        async end() {
          for (const one of lent) one.end()
          await connection.flushdb()
          connection.disconnect()
        },
      })
    },
  }
}

export const memoryEngine = memory('memory', false)
export const virtualEngine = memory('memory, virtual clock', true)
export const redisEngine = redis('ioredis', false)
/** Each client of the test on a connection of the caller's. */
export const lentEngine = (name: string, lend: Lend): Engine => redis(name, false, lend, 8)
/** Every message that a release sends is lost. */
export const silencedEngine = redis('ioredis without messages', true)
export const engines: readonly Engine[] = [memoryEngine, virtualEngine, redisEngine]

/** The reason to skip, or undefined. */
export const started = async (engine: Engine): Promise<string | undefined> => {
  try {
    await engine.start?.()
    return undefined
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'NO_REDIS'
    if (!missing || (process.env['HOLDFAST_REQUIRE'] ?? '').includes('redis')) throw error
    return error.message
  }
}

/** Adds a test. With 'real clock' it is left out where time is virtual. */
export type Scenario = (name: string, body: (world: World) => Promise<void>, on?: 'real clock') => void

/** Inside a `describe`: starts the engine before, stops it after, and gives the way to add tests to it. */
export const scenarios = (engine: Engine, defaults?: Partial<Options>, patience = 0): Scenario => {
  let reason: string | undefined
  before(async () => {
    reason = await started(engine)
  })
  after(async () => {
    await engine.stop?.()
  })
  return (name, body, on) => {
    if (on === 'real clock' && engine.virtual) return
    void test(name, { timeout: 2 * PATIENCE }, async (t) => {
      if (reason !== undefined) {
        t.skip(reason)
        return
      }
      const opened = await engine.open(defaults)
      const world = Object.assign(opened, { patience: Math.max(opened.patience, patience) })
      let failed = true
      try {
        await within(body(world), engine.virtual ? PATIENCE / 3 : 1.5 * PATIENCE)
        failed = false
      } finally {
        const finished = world.finish()
        await (failed ? finished.catch(() => undefined) : finished)
      }
    })
  }
}
