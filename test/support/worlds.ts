import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import { assertListingEnds, isListing, mayStay } from './leftovers.js'
import { startProxy } from './proxy.js'
import { startRedis } from './redis-server.js'

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
  /** Unique in the run, and begins with `prefix`. */
  readonly id: string
  /** What all names must begin with; mostly nothing. */
  readonly prefix: string
  /** On a cluster: a name whose keys and channels are not of one slot is none there. */
  readonly slotted: boolean
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

/** What a client library, a cluster, or what the server's user may do, keeps from whoever uses it. */
export type Feature =
  | 'sharded channels'
  | 'errors within replies'
  | 'order among commands'
  | 'scripts over several slots'
  | 'topics and scripts'

export interface Engine {
  readonly name: string
  readonly virtual: boolean
  readonly concurrency: number
  /** What cannot be had there; docs/connections.md has it too. */
  readonly lacks?: readonly Feature[]
  start?(): Promise<void>
  stop?(): Promise<void>
  /** `defaults`: what all clients of the test are connected with. */
  open(defaults?: Partial<Options>): Promise<World>
}

export interface Ways {
  readonly url: string
  readonly defaults: Partial<Options>
  readonly patience?: number
  readonly clock?: ReturnType<typeof virtualClock>
  readonly prefix?: string
  /** Other tests use the same keys at the same time. */
  readonly shared?: boolean
  /** A connection of the caller's own for each client; ended after the test. */
  lend?(): Promise<object>
  raw(...argv: Word[]): Promise<unknown>
  messages(channel: string): Promise<string[]>
  silence(): Promise<void> | void
  end(): Promise<void> | void
}

export const PATIENCE = 60_000
/** The watchdog's lease, unless a test asks for another. */
const WATCHDOG = 30_000
/** As many as the longest call makes that is about to wait: it subscribes, and asks once more. */
const TRIPS = 3
let worlds = 0

export const within = async <T>(promise: Promise<T>, ms: number): Promise<T> => {
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

export const build = (engine: string, id: string, ways: Ways): World => {
  const { clock, raw } = ways
  const clients: Client[] = []
  const isOurs = (key: string): boolean =>
    ways.shared !== true || [id, ...clients.map((client) => client.id)].some((word) => key.includes(word))
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
    if (clock !== undefined) return clock.advance(ms)
    await sleep(ms)
    // What was sent before it is answered by now, however busy this machine is.
    for (let trip = 0; trip < TRIPS; trip++) await raw('PING')
  }
  const world: World = {
    engine,
    url: ways.url,
    id,
    prefix: ways.prefix ?? '',
    slotted: ways.shared === true,
    virtual: clock !== undefined,
    clock,
    slack: clock === undefined ? 2500 : 60,
    patience: ways.patience ?? 0,
    leavesKeys: false,
    now,
    pause,
    pass,
    run,
    raw: async (...argv) => {
      const reply = await raw(...argv)
      return argv[0] === 'KEYS' ? (reply as string[]).filter(isOurs) : reply
    },
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
      let channels: string[]
      let keys: string[]
      try {
        await run(Promise.all(clients.map((client) => client.close())))
        await ways.silence()
        channels = (await raw('PUBSUB', 'CHANNELS', '*')) as string[]
        const left = (await world.raw('KEYS', '*')) as string[]
        keys = left.filter((key) => !mayStay(key) && !isListing(key))
        const pttl = async (key: string): Promise<number> => Number(await raw('PTTL', key))
        // Who closes without releasing can be found until its leases end, and not longer, even if somebody has ended its holds before.
        await assertListingEnds(left, pttl, Math.max(WATCHDOG, ...(await Promise.all(keys.map(pttl)))) + world.slack)
      } finally {
        await ways.end()
      }
      assert.deepEqual(
        channels.filter((channel) => channel.includes(id)),
        [],
        'a channel is left',
      )
      assert.deepEqual(world.leavesKeys ? [] : keys, [], 'a key is left')
    },
  }
  return world
}

const decoded = (reply: unknown): unknown => {
  if (Array.isArray(reply)) return reply.map(decoded)
  return typeof reply === 'string' ? Buffer.from(reply, 'latin1').toString() : reply
}

export const memory = (name: string, virtual: boolean): Engine => ({
  name,
  virtual,
  // Each has an interpreter of its own, and while many begin at once the process stands still: for less than any lease of a test.
  concurrency: virtual ? 1 : 12,
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

/** Servers that were started for one column, and how its clients come there. */
export interface Place {
  /** Of the server that has the keys, with nothing refused. */
  readonly admin: string
  url(database: number): string
  readonly options?: Partial<Options>
  stop(): Promise<unknown>
}

export interface Column {
  readonly name: string
  /** Default: a server of its own, over TCP. */
  start?(): Promise<Place>
  lend?: Lend
  readonly concurrency?: number
  readonly lacks?: readonly Feature[]
  /** What all names begin with, where no others may be used. */
  readonly prefix?: string
  /** Every message that a release sends is lost. */
  readonly silent?: boolean
}

/** Each test has so many to itself. */
export const DATABASES = ['--databases', '8192']

const onTcp = async (): Promise<Place> => {
  const server = await startRedis(DATABASES)
  return { admin: server.url, url: (database) => `${server.url}/${database}`, stop: () => server.stop() }
}

const inSilence = async (): Promise<Place> => {
  const server = await startRedis(DATABASES)
  const proxy = await startProxy(server.port)
  proxy.silent = true
  return {
    admin: server.url,
    url: (database) => `${proxy.url}/${database}`,
    stop: () => Promise.all([proxy.close(), server.stop()]),
  }
}

/** One server, or one that moves, whose databases are the tests'. */
export const redis = ({
  name,
  lend,
  prefix = '',
  concurrency = 32,
  lacks = [],
  silent = false,
  ...column
}: Column): Engine => {
  let place: Place | undefined
  let listener: Redis | undefined
  let database = 0
  const heard = new Map<string, string[]>()
  return {
    name,
    virtual: false,
    concurrency,
    lacks,
    async start() {
      place = await (column.start ?? (silent ? inSilence : onTcp))()
      listener = new Redis(place.admin)
      listener.on('message', (channel: string, payload: string) => heard.get(channel)?.push(payload))
    },
    async stop() {
      listener?.disconnect()
      await place?.stop()
    },
    async open(defaults = {}) {
      assert.ok(place !== undefined && listener !== undefined)
      const spy = listener
      const number = (database += 1)
      const connection = new Redis(place.admin, { db: number })
      await connection.ping()
      const listened: string[] = []
      const url = place.url(number)
      const lent: { end(): unknown }[] = []
      return build(name, `${prefix}r${number}-${process.pid}`, {
        url,
        defaults: { ...place.options, ...defaults },
        prefix,
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
          await connection.flushdb().finally(() => {
            connection.disconnect()
          })
        },
      })
    },
  }
}
