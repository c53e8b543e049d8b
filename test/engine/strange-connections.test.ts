import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ConfigError, connect, EngineError } from 'holdfast'
import { rejection } from '../suites/contract/lock/kind.js'
import { type Broken, onServer } from '../support/server.js'
import { works } from '../support/works.js'

/** What is used here of any of the libraries' clients. */
interface Lent {
  readonly connection: object
  command(...words: string[]): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  end(): unknown
}

type Library = (url: string, options?: object) => Promise<Lent>

interface Ioredis {
  readonly Redis: new (
    url: string,
    options: object,
  ) => { call(...words: string[]): Promise<unknown>; subscribe(name: string): Promise<unknown>; disconnect(): void }
}

interface NodeRedis {
  createClient(options: object): {
    connect(): Promise<unknown>
    sendCommand(words: string[]): Promise<unknown>
    subscribe(name: string, listener: () => void): Promise<unknown>
    destroy(): void
    on(event: string, listener: () => void): unknown
  }
}

const ioredis =
  (name: string): Library =>
  async (url, options = {}) => {
    const { Redis } = (await import(name)) as Ioredis
    const connection = new Redis(url, options)
    return {
      connection,
      command: (...words) => connection.call(...words),
      subscribe: (channel) => connection.subscribe(channel),
      end: () => {
        connection.disconnect()
      },
    }
  }

const nodeRedis =
  (name: string): Library =>
  async (url, options = {}) => {
    const { createClient } = (await import(name)) as NodeRedis
    const connection = createClient({ url, ...options })
    connection.on('error', () => undefined)
    await connection.connect()
    return {
      connection,
      command: (...words) => connection.sendCommand(words),
      subscribe: (channel) => connection.subscribe(channel, () => undefined),
      end: () => {
        connection.destroy()
      },
    }
  }

const libraries: Readonly<Record<string, Library>> = {
  ioredis: ioredis('ioredis'),
  ioredis5: ioredis('ioredis5'),
  'node-redis5': nodeRedis('node-redis5'),
  'node-redis6': nodeRedis('node-redis6'),
}

const lending = async (broken: Broken, library: Library, options?: object): Promise<Lent> => {
  const lent = await library(broken.server.url, options)
  broken.after(() => lent.end())
  return lent
}

const refusal = async (connection: object): Promise<string> => {
  const error = await rejection(connect({ connection, connectTimeout: 3000 }))
  assert.ok(error instanceof ConfigError, String(error))
  return error.message
}

/** It can be used for a lock, and for what answers with numbers, lists and text. */
for (const [name, library] of Object.entries(libraries)) {
  void describe(`what a client of ${name} may answer`, { concurrency: 3 }, () => {
    onServer('one inside an open MULTI → refused, and nothing of ours is in it', async (broken) => {
      const lent = await lending(broken, library)
      await lent.command('MULTI')
      assert.match(await refusal(lent.connection), /inside an open MULTI/)
      assert.deepEqual(await lent.command('EXEC'), ['PONG'])
    })

    onServer('a MULTI opened later → BAD_REPLY, nothing is held, and holds are in doubt', async (broken) => {
      const lent = await lending(broken, library)
      const client = await connect({ connection: lent.connection, watchdog: 1500, commandTimeout: 1000 })
      client.on('error', () => undefined)
      const held = await client.lock('held').acquire()
      await lent.command('MULTI')
      for (const taking of [client.lock('a').acquire(), client.lock('b').tryAcquire({ wait: 100 })]) {
        const error = await rejection(taking)
        assert.ok(error instanceof EngineError && error.code === 'BAD_REPLY', String(error))
        assert.match(error.message, /lock\/acquire.*"QUEUED".*open MULTI/)
      }
      const asking = await rejection(client.lock('held').remaining())
      assert.ok(asking instanceof EngineError && asking.code === 'BAD_REPLY', String(asking))
      await broken.until(() => held.state !== 'held')
      await lent.command('EXEC')
      await broken.until(async () => (await broken.redis.exists('a', 'b')) === 0)
      assert.equal(await (await client.lock('a').acquire()).release(), true)
      await client.close()
    })

    onServer('one in subscriber mode → refused, or it can send all the same', async (broken) => {
      const lent = await lending(broken, library)
      await lent.subscribe('news')
      const tried = await works(lent.connection).catch((error: unknown) => error as Error)
      if (tried === undefined) return
      assert.ok(tried instanceof ConfigError, String(tried))
      assert.match(tried.message, /subscriber mode/)
    })
  })
}

void describe('options that change replies', { concurrency: 3 }, () => {
  for (const name of ['ioredis', 'ioredis5'] as const) {
    onServer(`stringNumbers of ${name} → refused by name`, async (broken) => {
      const lent = await lending(broken, libraries[name] as Library, { stringNumbers: true })
      assert.match(await refusal(lent.connection), /stringNumbers/)
    })

    onServer(`enableAutoPipelining of ${name} → works`, async (broken) => {
      const lent = await lending(broken, libraries[name] as Library, { enableAutoPipelining: true })
      await works(lent.connection)
    })
  }

  onServer('the maps and doubles of RESP3 → work', async (broken) => {
    const lent = await lending(broken, ioredis('ioredis'), { protocol: 3, replyMapping: 'resp3' })
    await works(lent.connection)
  })

  for (const name of ['node-redis5', 'node-redis6'] as const) {
    for (const RESP of [2, 3]) {
      onServer(`a type mapping of ${name}, RESP${RESP} → works`, async (broken) => {
        const typeMapping = { 36: Buffer, 43: Buffer, 58: String, 44: String, 61: Buffer, 37: Map, 126: Set }
        const options = { RESP, commandOptions: { typeMapping } }
        const lent = await lending(broken, libraries[name] as Library, options)
        await works(lent.connection)
      })
    }
  }
})
