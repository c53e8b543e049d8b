import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Client, type ClientOptions, type Hold, connect } from 'holdfast'
import { Redis } from 'ioredis'
import { versionOf } from '../base/paths.js'
import type { Contender, Participant, Session } from './participant.js'

const permitsOf = (client: Client, name: string, places: number): Contender => {
  const semaphore = client.semaphore(name)
  const made = semaphore.trySetPermits(places)
  return {
    async acquire() {
      await made
      await semaphore.acquire()
      return { release: () => semaphore.release() }
    },
  }
}

const rateOf = (client: Client, name: string, perSecond: number): Contender => {
  const limiter = client.rateLimiter(name)
  const made = limiter.trySetRate({ permits: perSecond, interval: 1000 })
  return {
    async acquire() {
      await made
      await limiter.acquire()
      // Nothing is given back.
      return { release: () => Promise.resolve() }
    },
  }
}

const openWith = async (open: typeof connect, url: string, options: ClientOptions): Promise<Session> =>
  sessionOf(await open({ url, ...options }))

const sessionOf = (client: Client): Session => {
  let [lost, uncertain] = [0, 0]
  client.on('lost', () => lost++)
  client.on('uncertain', () => uncertain++)
  return {
    lock(kind, name, places = 1) {
      if (kind === 'semaphore') return permitsOf(client, name, places)
      if (kind === 'limiter') return rateOf(client, name, places)
      if (kind === 'readLock') return client.readWriteLock(name).read
      if (kind === 'writeLock') return client.readWriteLock(name).write
      if (kind === 'fairWriteLock') return client.readWriteLock(name, { fair: true }).write
      return client[kind](name)
    },
    troubles: () => lost + uncertain,
    lost: () => lost,
    intact: (held) => (held as Hold).state === 'held' && !(held as Hold).signal.aborted,
    close: () => client.close(),
  }
}

export const holdfast: Participant = {
  name: 'holdfast',
  family: 'holdfast',
  file: 'bench/participants/holdfast.ts',
  setup: 'connect(url), all defaults: a lease of 30 s that the watchdog renews',
  kinds: ['lock', 'fairLock', 'fencedLock', 'semaphore', 'readLock', 'writeLock', 'fairWriteLock', 'limiter'],
  waits: true,
  memory: true,
  renews: true,
  keyOf: (name) => name,
  // Its presence key.
  direct: ['set'],
  version: () => versionOf('.'),
  open: (url, watchdog) => openWith(connect, url, { watchdog }),
}

/** Only in U1s: no other participant returns before the answer. */
export const holdfastSent: Participant = {
  ...holdfast,
  name: "holdfast, release: 'sent'",
  setup: "connect({ url, release: 'sent' }), otherwise all defaults",
  open: (url, watchdog) => openWith(connect, url, { watchdog, release: 'sent' }),
}

/** Only in Y: over a client of the caller's own, which speaks RESP3. */
export const holdfastResp3: Participant = {
  ...holdfast,
  name: 'holdfast, RESP3',
  setup: 'connect({ connection: new Redis(url, { protocol: 3 }) }), otherwise all defaults',
  async open(url, watchdog) {
    const connection = new Redis(url, { protocol: 3 })
    const session = sessionOf(await connect({ connection, ...(watchdog !== undefined && { watchdog }) }))
    return {
      ...session,
      async close() {
        await session.close()
        connection.disconnect()
      },
    }
  },
}

/** Only in B. */
export const holdfastThread: Participant = {
  ...holdfast,
  name: 'holdfast, thread: true',
  setup: 'connect({ url, watchdog: { thread: true } })',
  open: (url, lease = 30_000) => openWith(connect, url, { watchdog: { lease, thread: true } }),
}

/** Another build of holdfast, for `npm run bench -- beside DIR`. */
export const before: Participant = {
  ...holdfast,
  name: 'holdfast before',
  family: 'trial',
  setup: 'the build at HOLDFAST_BEFORE',
  async open(url, watchdog) {
    const built = join(process.env['HOLDFAST_BEFORE'] ?? '', 'dist/index.js')
    const module = (await import(pathToFileURL(built).href)) as { connect: typeof connect }
    return openWith(module.connect, url, { watchdog })
  },
}
