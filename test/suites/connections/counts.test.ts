import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as dial, createServer, type Server, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Client, type Lock } from 'holdfast'
import { Redis } from 'ioredis'
import { redisEngine, started } from '../../support/engines.js'
import { admit, ANY_LINE } from '../../support/acl.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

interface Parting {
  readonly url: string
  close(): Promise<void>
}

/** Whoever subscribes is let hear the replica, as proxies do that spread reading: the master counts nobody. */
const parting = async (master: RedisServer, replica: RedisServer): Promise<Parting> => {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => socket.destroy())
  }
  const server: Server = createServer((client) => {
    keep(client)
    const ways = [master, replica].map(({ port }) => keep(dial(port, '127.0.0.1')))
    let way = ways[0]
    for (const one of ways) one.on('data', (data) => one === way && client.write(data))
    client.on('data', (data) => {
      if (/subscribe/i.test(data.toString('latin1'))) way = ways[1]
      way?.write(data)
    })
    client.on('close', () => ways.forEach((one) => one.destroy()))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `redis://127.0.0.1:${port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}

interface Kind {
  lockOf(client: Client): Lock
  /** Whether it is worse where nobody is counted: its marks mean something else. */
  readonly suffers: boolean
}

const KINDS: Readonly<Record<string, Kind>> = {
  'fair lock': { lockOf: (client) => client.fairLock('counted'), suffers: true },
  'fair read-write lock': { lockOf: (client) => client.readWriteLock('counted', { fair: true }).write, suffers: false },
  lock: { lockOf: (client) => client.lock('counted'), suffers: false },
}

const said = ({ warnings }: Client): number =>
  warnings.filter((text) => text.includes('does not count the subscribers')).length

/** For that long, ms: longer than calls without a grant are thought to be an accident. */
const LONG = 4000

/** Two of each client's take the lock in turns, one at a time. How often each client says that nobody is counted. */
const contend = async (url: string, lockOf: (client: Client) => Lock): Promise<number[]> => {
  const options = { url, replicas: { sync: false } }
  const clients = [await connect(options), await connect(options)]
  const end = Date.now() + LONG
  let inside = 0
  const visits = async (lock: Lock): Promise<void> => {
    while (Date.now() < end) {
      await lock.using({ wait: 30_000 }, async () => {
        assert.equal((inside += 1), 1, 'two inside')
        await sleep(10)
        inside -= 1
      })
    }
  }
  try {
    await Promise.all([...clients, ...clients].map((client) => visits(lockOf(client))))
    return clients.map(said)
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
}

/** The lines of SECURITY.md as they were, or as somebody made them. */
const withoutCounts = async ({ url, port }: RedisServer): Promise<string> => {
  const admin = new Redis(url)
  const words = ANY_LINE.words.filter((word) => word !== '+pubsub|numsub')
  const user = await admit(admin, { ...ANY_LINE, words }, 'a-test-of-counts')
  admin.disconnect()
  return `redis://${user}@127.0.0.1:${port}`
}

interface Scene {
  readonly what: string
  readonly says: 0 | 1
  /** What clients connect to. */
  place(start: (...args: string[]) => Promise<RedisServer>, after: (end: () => Promise<void>) => void): Promise<string>
}

const SCENES: readonly Scene[] = [
  { what: 'the server counts → nothing is said', says: 0, place: async (start) => (await start()).url },
  {
    what: 'messages come from a replica → one at a time, and a warning for the fair lock',
    says: 1,
    async place(start, after) {
      const master = await start('--repl-diskless-sync-delay', '0')
      const replica = await start('--replicaof', '127.0.0.1', String(master.port))
      const way = await parting(master, replica)
      after(() => way.close())
      return way.url
    },
  },
  {
    what: 'the user may not ask → one at a time, and a warning for the fair lock',
    says: 1,
    place: async (start) => withoutCounts(await start()),
  },
]

void describe('whether the server counts who hears its messages', { concurrency: 2 }, () => {
  for (const [kind, { lockOf, suffers }] of Object.entries(KINDS)) {
    for (const { what, says, place } of SCENES) {
      test(`${kind}: ${what}`, { timeout: 60_000 }, async (t) => {
        const ends: (() => Promise<void>)[] = []
        const start = async (...args: string[]): Promise<RedisServer> => {
          const server = await startRedis(args)
          ends.push(() => server.stop())
          return server
        }
        try {
          let url = ''
          const begin = async (): Promise<void> => {
            url = await place(start, (end) => void ends.push(end))
          }
          const skip = await started({ ...redisEngine, start: begin })
          if (skip !== undefined) return t.skip(skip)
          const warned = suffers ? says : 0
          assert.deepEqual(await contend(url, lockOf), [warned, warned])
        } finally {
          for (const end of ends.reverse()) await end()
        }
      })
    }
  }
})
