import { after, before, test, type TestContext } from 'node:test'
import type { Client, ClientOptions } from 'holdfast'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../../support/redis-server.js'
import { type Redisson, startRedisson } from './redisson.js'

const missing = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  if (error.code === 'NO_JAVA') return 'java'
  return error.code === 'NO_REDIS' ? 'redis' : undefined
}

/** Why there is nothing to compare with; throws where that must not be. */
export const excuse = (error: unknown): string => {
  const what = missing(error)
  if (what === undefined || (process.env['HOLDFAST_REQUIRE'] ?? '').includes(what)) throw error
  return (error as Error).message
}

/** One server, one Java process, and what is needed to look at them; for all tests of one `describe`. */
export interface Arena {
  readonly url: string
  readonly redis: Redis
  readonly java: Redisson
}

/** Inside a `describe`. The function that it gives skips the test, and says nothing, where there is no Java or no server. */
export const arena = (version: string, options: Readonly<Record<string, unknown>> = {}) => {
  let server: RedisServer | undefined
  let made: Arena | undefined
  let reason: string | undefined

  before(async () => {
    try {
      server = await startRedis()
      const { url } = server
      const java = await startRedisson({ url, version, options })
      made = { url, redis: new Redis(url), java }
    } catch (error) {
      reason = excuse(error)
    }
  })

  after(async () => {
    await made?.java.kill()
    made?.redis.disconnect()
    await server?.stop()
  })

  return (t: TestContext): Arena | undefined => {
    if (reason !== undefined) t.skip(reason)
    return made
  }
}

/** Tests that each have a client of ours of their own beside the arena, and leave an empty server. */
export const scenarios =
  (enter: (t: TestContext) => Arena | undefined, ours: ClientOptions) =>
  (name: string, body: (here: Arena, client: Client) => Promise<void>): void => {
    void test(name, { timeout: 60_000 }, async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const client = await connect({ ...ours, url: here.url, presence: false })
      try {
        await body(here, client)
      } finally {
        await client.close()
        await here.redis.flushall()
      }
    })
  }
