import assert from 'node:assert/strict'
import type { EventEmitter } from 'node:events'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis as Ioredis } from 'ioredis'
import { parseUrl } from '#src/config/url.js'
import { systemClock } from '#src/base/clock.js'
import type { Driver } from '#src/engine/driver.js'
import { IoredisDriver } from '#src/engine/ioredis/driver.js'
import { Link } from '#src/engine/link.js'
import { NodeRedisDriver } from '#src/engine/node-redis/driver.js'
import type { IoredisClient } from '#src/engine/ioredis/client-type.js'
import type { NodeRedisClient } from '#src/engine/node-redis/client-type.js'
import { freePort } from '../support/redis-server.js'
import type { Broken } from '../support/server.js'
import { onServer } from '../support/server.js'

/** As by default: with a shorter one a busy machine is taken for a dead server, whose connections are made anew again and again. */
const OPTIONS = { clock: systemClock, connectTimeout: 5000, commandTimeout: 3000 }

/** A driver of a client that goes through the proxy, and how that client ends. */
type Make = (url: string) => Promise<readonly [driver: Driver, end: () => unknown]>

const byUrl: Make = (url) => {
  const place = parseUrl(url)
  assert.ok(place.engine === 'redis')
  return Promise.resolve([IoredisDriver.open(place.endpoint, OPTIONS), () => undefined])
}

const ofIoredis =
  (name: string): Make =>
  async (url) => {
    const { Redis } = (await import(name)) as { readonly Redis: typeof Ioredis }
    const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null })
    client.on('error', () => undefined)
    return [new IoredisDriver(client as unknown as IoredisClient, 'lent'), () => client.disconnect()]
  }

const ofNodeRedis =
  (name: string, prepare?: (client: NodeRedisClient & EventEmitter) => void): Make =>
  async (url) => {
    const { createClient } = (await import(name)) as { createClient(options: object): NodeRedisClient & EventEmitter }
    const client = createClient({ url, socket: { reconnectStrategy: () => 50 } })
    prepare?.(client)
    client.on('error', () => undefined)
    await client.connect()
    return [new NodeRedisDriver(client), () => client.destroy()]
  }

const clients: Readonly<Record<string, Make>> = {
  'by URL': byUrl,
  'a connection of ioredis 6': ofIoredis('ioredis'),
  'a connection of ioredis 5': ofIoredis('ioredis5'),
  'a connection of node-redis 5': ofNodeRedis('node-redis5'),
  'a connection of node-redis 6': ofNodeRedis('node-redis6'),
}

interface Heard {
  readonly link: Link
  readonly events: string[]
}

const open = async (broken: Broken, make: Make, commandTimeout = OPTIONS.commandTimeout): Promise<Heard> => {
  const [driver, end] = await make(broken.proxy.url)
  const events: string[] = []
  const link = new Link(
    driver,
    { ...OPTIONS, commandTimeout },
    {
      message: ({ name, payload }) => void events.push(`${name}: ${Buffer.from(payload).toString()}`),
      reconnected: () => void events.push('reconnected'),
      moved: () => undefined,
      gap: () => void events.push('gap'),
      unheard: (_kind, name) => void events.push(`unheard ${name}`),
      error: () => undefined,
    },
  )
  broken.after(async () => {
    await link.close()
    await end()
  })
  await link.open()
  return { link, events }
}

/** What the server has: each channel and each pattern, once. */
const subscribed = async ({ redis }: Broken): Promise<string[]> => {
  const channels = (await redis.pubsub('CHANNELS')) as string[]
  const patterns = Number(await redis.pubsub('NUMPAT'))
  return [...channels, ...Array.from({ length: patterns }, () => 'pattern')].sort()
}

/** How the connections go and come back. */
const losses: Readonly<Record<string, (broken: Broken) => unknown>> = {
  'all connections cut': ({ proxy }) => proxy.cut(),
  'CLIENT KILL of the messages': ({ redis }) => redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'),
  'the server restarted': (broken) => broken.restart(),
  'half-open': ({ proxy }) => proxy.stall('everything', 1),
}

for (const [name, make] of Object.entries(clients)) {
  void describe(`subscriptions: ${name}`, { concurrency: 5 }, () => {
    for (const [loss, lose] of Object.entries(losses)) {
      onServer(`${loss} → listeners get a gap; subscriptions work again, and there are no others`, async (broken) => {
        const { link, events } = await open(broken, make)
        for (const channel of ['a', 'b']) await link.subscribe(channel, 'plain')
        for (const pattern of ['p*', 'q*']) await link.subscribe(pattern, 'pattern')
        await link.unsubscribe('b', 'plain')
        await link.unsubscribe('q*', 'pattern')
        assert.deepEqual(await subscribed(broken), ['a', 'pattern'])
        await lose(broken)
        await broken.until(() => events.includes('gap'))
        // A connection that is about to be replaced may still be subscribed: what comes there is lost, and a gap is told again.
        await broken.until(async () => {
          for (const channel of ['a', 'b', 'p', 'q']) await broken.redis.publish(channel, 'm')
          return events.includes('a: m') && events.includes('p*: m')
        })
        await broken.until(async () => (await subscribed(broken)).join() === 'a,pattern')
        await sleep(50)
        const heard = new Set(events.filter((event) => event.endsWith(': m')))
        assert.deepEqual([...heard].sort(), ['a: m', 'p*: m'])
      })
    }

    onServer(
      'asked for and given up while the connection is away → none is left when it is back; one that is waited for stands',
      async (broken) => {
        const { link, events } = await open(broken, make, 500)
        await link.subscribe('a', 'plain')
        await link.subscribe('over', 'plain')
        broken.proxy.target = await freePort()
        broken.proxy.cut()
        await broken.until(() => !link.isUp)
        const names = Array.from({ length: 20 }, (_, i) => `given-up-${i}`)
        await Promise.allSettled(names.map((channel) => link.subscribe(channel, 'plain')))
        await Promise.allSettled(names.map((channel) => link.unsubscribe(channel, 'plain')))
        await Promise.allSettled([link.unsubscribe('over', 'plain'), link.subscribe('late', 'plain')])
        broken.proxy.target = broken.server.port
        await broken.until(() => link.isUp && events.includes('gap'))
        await broken.until(async () => (await subscribed(broken)).join() === 'a,late')
        await sleep(300)
        assert.deepEqual(await subscribed(broken), ['a', 'late'])
      },
    )
  })
}

for (const name of ['node-redis5', 'node-redis6']) {
  onServer(
    `${name}: the connection for messages is replaced while it dials → only the new one stands`,
    async (broken) => {
      const make = ofNodeRedis(name, (client) => {
        const duplicate = client.duplicate?.bind(client)
        let first = true
        client.duplicate = (options) => {
          const made = duplicate?.(options) as NodeRedisClient & EventEmitter
          made.on('reconnecting', () => {
            if (!first) return
            first = false
            // The caller's own connection was lost, too, and is back before the dial has ended.
            client.emit('reconnecting')
            queueMicrotask(() => client.emit('ready'))
          })
          return made
        }
      })
      const { link, events } = await open(broken, make)
      await link.subscribe('a', 'plain')
      await broken.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await broken.until(() => events.includes('gap'))
      await sleep(500)
      assert.deepEqual(await broken.redis.pubsub('NUMSUB', 'a'), ['a', 1])
      await broken.redis.publish('a', 'm')
      await broken.until(() => events.includes('a: m'))
      await sleep(50)
      assert.equal(events.filter((event) => event === 'a: m').length, 1)
    },
  )
}
