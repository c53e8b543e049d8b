/**
 * Takes and gives back locks in a process of its own, and says what that left behind; it must end by itself.
 * Run with --expose-gc: `leak-process.js <job> <url> <names or ms> <seed>`.
 */
import { getEventListeners, setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Clock, Hold } from 'holdfast'
import { AcquireTimeoutError, connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { Gates } from '#src/core/gate/gates.js'
import type { OpenGate } from '#src/core/gate/lock-kind.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import { seeded } from './random.js'

export interface Leftovers {
  /** Heap in use after a collection, in bytes: when all was warm, and at the end. */
  readonly heap: readonly [before: number, after: number]
  readonly had: number
  readonly notHad: number
  readonly inside: { readonly gates: number; readonly holds: number; readonly waiting: number }
  /** Listeners left on signals that outlive the calls. */
  readonly listeners: number
  readonly channels: readonly string[]
  /** Keys, without those that tell who the clients are. */
  readonly keys: number
  /** Timers with the clients still open, and when they were closed. */
  readonly timers: readonly [open: number, closed: number]
  readonly keysWhenClosed: number
}

const [job = '', url = '', amount = '0', seed = '1'] = process.argv.slice(2)
const random = seeded(Number(seed))
const LANES = 64

const homes = new Set<Gates>()
const { at } = Gates.prototype
Gates.prototype.at = function (this: Gates, ...which: Parameters<Gates['at']>): OpenGate {
  homes.add(this)
  return at.apply(this, which)
}

const timers = new Set<object>()

/** Keeps count of the timers that are set. */
const counting = (clock: Clock): Clock => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  random: () => clock.random(),
  randomBytes: (count) => clock.randomBytes(count),
  setTimer(callback, ms, options) {
    const mark = {}
    timers.add(mark)
    const timer = clock.setTimer(
      () => {
        timers.delete(mark)
        callback()
      },
      ms,
      options,
    )
    return {
      cancel() {
        timers.delete(mark)
        timer.cancel()
      },
    }
  },
})

interface World {
  readonly clock: Clock
  readonly pause: (ms: number) => Promise<void>
  /** Lets time pass until the work is done. */
  readonly drive: <T>(work: Promise<T>) => Promise<T>
  readonly raw: (...words: string[]) => Promise<unknown>
  readonly end: () => void
}

const redisWorld = (): World => {
  const redis = new Redis(url)
  return {
    clock: counting(systemClock),
    pause: (ms) => sleep(ms),
    drive: (work) => work,
    raw: (name = '', ...words) => redis.call(name, ...words),
    end: () => redis.disconnect(),
  }
}

const memoryWorld = (virtual: boolean): World => {
  const base = virtual ? virtualClock(Number(seed)) : undefined
  const clock = counting(base ?? systemClock)
  const server = openMemoryServer(url.slice('memory:'.length), clock)
  return {
    clock,
    pause: (ms) => (base === undefined ? sleep(ms) : new Promise((resolve) => base.setTimer(resolve, ms))),
    async drive(work) {
      let over = false
      const settle = (): void => void (over = true)
      work.then(settle, settle)
      if (base !== undefined) for (await base.advance(0); !over; await base.advance(50));
      return work
    },
    raw: (...words) => Promise.resolve(server.execute(words)),
    end() {
      closeMemoryServer(server)
    },
  }
}

const collect = async (): Promise<number> => {
  for (let i = 0; i < 4; i += 1) {
    await sleep(100)
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

const tally = { had: 0, notHad: 0 }
const world = url.startsWith('memory:') ? memoryWorld(job === 'churn') : redisWorld()
const { clock, pause, drive, raw } = world
const open = (): Promise<Client> => drive(connect({ url, clock, watchdog: job === 'churn' ? 3000 : 30_000 }))

const inLanes = async (lane: (index: number) => Promise<void>): Promise<void> => {
  await drive(Promise.all(Array.from({ length: LANES }, (_, index) => lane(index))))
}

/** Each name once. */
const names = (client: Client, from: number, to: number): Promise<void> =>
  inLanes(async (lane) => {
    for (let i = from + lane; i < to; i += LANES) {
      const hold = await client.lock(`orders:${i}`).acquire()
      if (await hold.release()) tally.had += 1
      else tally.notHad += 1
    }
  })

/** One of many calls that may end in any way: had, not had in time, aborted while it waits or on its way. */
const attempt = async (client: Client, shared: AbortSignal): Promise<void> => {
  const lock = client.lock(`shared:${Math.floor(random() * 4)}`)
  const wait = random() < 0.5 ? random() * 60 : undefined
  const lease = random() < 0.3 ? 1000 + Math.floor(random() * 1000) : undefined
  const abort = random() < 0.6 ? new AbortController() : undefined
  const signal = abort?.signal ?? (random() < 0.3 ? shared : undefined)
  if (abort !== undefined) void pause(random() * 40).then(() => abort.abort())
  let hold: Hold | undefined
  try {
    hold = random() < 0.1 ? await lock.tryAcquire({ lease, signal }) : await lock.acquire({ wait, lease, signal })
  } catch (error) {
    if (!(error instanceof AcquireTimeoutError) && error !== abort?.signal.reason) throw error
  }
  if (hold === undefined) {
    tally.notHad += 1
    return
  }
  tally.had += 1
  await pause(random() < 0.05 ? 1500 * random() : 4 * random())
  await hold.release()
}

const churn = async (clients: readonly Client[], shared: AbortSignal, ms: number): Promise<void> => {
  const end = clock.monotonic() + ms
  await inLanes(async (lane) => {
    const client = clients[lane % clients.length] as Client
    while (clock.monotonic() < end) await attempt(client, shared)
  })
  // What is undone behind the callers' backs, and the subscriptions that outlive their last listener for a while.
  await drive(pause(5000))
}

const keysNow = async (): Promise<string[]> => {
  const keys = (await raw('KEYS', '*')) as string[]
  return keys.filter((key) => !key.startsWith('holdfast:client:'))
}

const run = async (): Promise<Leftovers> => {
  const { signal: shared } = new AbortController()
  setMaxListeners(0, shared)
  const clients = job === 'names' ? [await open()] : [await open(), await open()]
  const [first] = clients as [Client]
  const total = Number(amount)
  const warm = job === 'names' ? 20_000 : total / 10
  if (job === 'names') await names(first, 0, warm)
  else await churn(clients, shared, warm)
  const before = await collect()
  if (job === 'names') await names(first, warm, warm + total)
  else await churn(clients, shared, total - warm)
  const after = await collect()
  const sum = (count: (gates: Gates) => number): number => [...homes].reduce((all, one) => all + count(one), 0)
  const inside = {
    gates: sum(({ all }) => all.length),
    holds: sum(({ runtime }) => runtime.watchdog.tenures.length),
    waiting: sum(({ runtime }) => runtime.waiting),
  }
  const channels = (await raw('PUBSUB', 'CHANNELS', '*')) as string[]
  const keys = await keysNow()
  const opened = timers.size
  await drive(Promise.all(clients.map((client) => client.close())))
  const keysWhenClosed = ((await raw('KEYS', '*')) as string[]).length
  world.end()
  return {
    heap: [before, after],
    ...tally,
    inside,
    listeners: getEventListeners(shared, 'abort').length,
    channels,
    keys: keys.length,
    timers: [opened, timers.size],
    keysWhenClosed,
  }
}

process.stdout.write(JSON.stringify(await run()))
