/**
 * Drives one path that may show what is secret, and prints everything that a user could come to see: errors to the last
 * hidden property, events, log lines, diagnostics, warnings. `secret-process.js <path> <url> <admin's url>`.
 */
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Client, ClientOptions } from 'holdfast'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import { startProxy } from './proxy.js'

const [path = '', url = '', adminUrl = ''] = process.argv.slice(2)

const json = (value: unknown): string => {
  try {
    return JSON.stringify(value)
  } catch (error) {
    return String(error)
  }
}

const see = (what: string, value: unknown): void => {
  console.log(what, String(value), json(value))
  console.log(inspect(value, { depth: 10, showHidden: true, getters: true, maxStringLength: Infinity }))
  if (value instanceof Error) {
    console.log(value.stack)
    if (value.cause !== undefined) see(`${what}, its cause`, value.cause)
  }
}

const seen = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
  try {
    const value = await work()
    see(what, value)
    return value
  } catch (error) {
    see(`${what} rejects`, error)
    return undefined
  }
}

process.on('warning', (warning) => see('warning', warning))
process.on('unhandledRejection', (reason) => see('unhandled', reason))
for (const event of ['acquire', 'wait', 'grant', 'renew', 'lost', 'release']) {
  subscribe(`holdfast:${event}`, (message) => see(`channel ${event}`, message))
}

const log = (level: string) => (message: string, details?: unknown) => see(`log ${level}: ${message}`, details)
const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }

const open = (options: ClientOptions): Promise<Client | undefined> =>
  seen('connect', async () => {
    const client = await connect({ logger, connectTimeout: 1500, commandTimeout: 400, watchdog: 1500, ...options })
    client.on('uncertain', (event) => see('event uncertain', event))
    client.on('lost', (event) => see('event lost', event))
    client.on('reconnect', () => see('event reconnect', undefined))
    return client
  })

/** What is asked of a client that works, or that does not. */
const use = async (client: Client): Promise<void> => {
  see('warnings', client.warnings)
  const lock = client.lock('a')
  see('lock', lock)
  const hold = await seen('acquire', () => lock.acquire({ wait: 1000 }))
  await seen('try', () => lock.tryAcquire())
  await seen('wait', () => lock.acquire({ wait: 50 }))
  await seen('abort', () => lock.acquire({ signal: AbortSignal.timeout(20) }))
  await seen('inspect', () => lock.inspect())
  await seen('re-entrance', () =>
    client.nonReentrantLock('b').using(({ owner }) => client.nonReentrantLock('b').acquire({ owner })),
  )
  await seen('unlock', () => lock.for(client.owner('me')).unlock())
  await seen('force', () => lock.forceRelease())
  if (hold !== undefined) {
    see('hold', [hold.state, hold.signal.reason])
    await seen('release', () => hold.release())
  }
}

const useAndClose = async (client: Client | undefined): Promise<void> => {
  if (client === undefined) return
  await use(client)
  await client.close()
  await seen('closed', () => client.lock('a').acquire())
}

const admin = (): Redis => new Redis(adminUrl)

/** Once with an `error` listener and once with the logger alone. */
const both = async (
  options: ClientOptions,
  trouble: (client: Client, redis: Redis) => Promise<void>,
): Promise<void> => {
  const redis = admin()
  for (const listened of [true, false]) {
    const client = await open(options)
    if (client === undefined) continue
    if (listened) client.on('error', (error) => see('event error', error))
    const hold = await seen('acquire', () => client.lock('a').acquire())
    const waiting = seen('waiter', () => client.lock('a').acquire({ wait: 3000 }))
    await sleep(100)
    await trouble(client, redis)
    await hold?.release()
    await (await waiting)?.release()
    await useAndClose(client)
  }
  redis.disconnect()
}

const user = /^[a-z+]+:\/\/([^:@/]+):[^/]*@/.exec(url)?.[1] ?? 'default'
const paths: Record<string, () => Promise<void>> = {
  /** connect, use, close: whatever comes of it. */
  plain: async () => useAndClose(await open({ url })),

  /** The third argument is a file with what TLS needs. */
  secured: async () => {
    const tls = JSON.parse(readFileSync(adminUrl, 'utf8')) as NonNullable<ClientOptions['tls']>
    await useAndClose(await open({ url, tls }))
  },

  /** The second argument is a file that says it all. */
  filed: async () => useAndClose(await open({ file: url })),

  refusedUrl: async () => {
    await open({ url })
    await seen('as text', () => connect(url))
  },

  killed: () =>
    both({ url }, async (_client, redis) => {
      await redis.call('CLIENT', 'KILL', 'USER', user)
      await sleep(700)
    }),

  passwordChanged: () =>
    both({ url }, async (_client, redis) => {
      const [password] = (await redis.call('ACL', 'GETUSER', user).then((fields) => (fields as string[][])[3])) ?? []
      await redis.call('ACL', 'SETUSER', user, 'resetpass', '>changed')
      await redis.call('CLIENT', 'KILL', 'USER', user)
      await sleep(1500)
      await redis.call('ACL', 'SETUSER', user, 'resetpass', `#${password ?? ''}`)
    }),

  /** One after the other, all that the user may do is taken away. */
  forbidden: () =>
    both({ url }, async (client, redis) => {
      for (const rule of ['-evalsha', '-eval', '-subscribe', '-@all', 'resetchannels', 'resetkeys']) {
        await redis.call('ACL', 'SETUSER', user, rule)
        await use(client)
      }
      await redis.call('ACL', 'SETUSER', user, '+@all', 'allchannels', 'allkeys')
    }),

  silent: async () => {
    const target = new URL(url.replace('redis:', 'http:'))
    const proxy = await startProxy(Number(target.port))
    target.port = new URL(proxy.url.replace('redis:', 'http:')).port
    await both({ url: target.href.replace('http:', 'redis:') }, async (client) => {
      proxy.mute = true
      await use(client)
      proxy.cut()
      await sleep(300)
      proxy.mute = false
      await sleep(300)
    })
    await proxy.close()
  },

  borrowed: async () => {
    const connection = new Redis(url, { retryStrategy: () => 200 })
    await both({ connection }, async (_client, redis) => {
      await redis.call('CLIENT', 'KILL', 'USER', user)
      await sleep(700)
    })
    connection.disconnect()
  },

  borrowedRefused: async () => {
    const connection = new Redis(url, { retryStrategy: () => 200 })
    await useAndClose(await open({ connection }))
    connection.disconnect()
  },

  borrowedPrefixed: async () => {
    const connection = new Redis(url, { lazyConnect: true, keyPrefix: 'a:' })
    await open({ connection })
    await open({ connection, url })
  },

  /** Shows that what is printed is enough to find it. */
  leak: () => {
    const cause = new Error('beneath')
    Object.defineProperty(cause, 'command', { value: { name: 'auth', args: [url] } })
    see('error', new Error('above', { cause }))
    return Promise.resolve()
  },
}

await paths[path]?.()
console.log('end of the path')
