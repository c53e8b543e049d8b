import { after, before, test, type TestContext } from 'node:test'
import { type RedisServer, startRedis } from './redis-server.js'
import { rowOf, ROWS } from './rows.js'
import { leftOut } from './sample.js'
import {
  type Engine,
  type Feature,
  type Lend,
  memory,
  type Options,
  PATIENCE,
  redis,
  within,
  type World,
} from './worlds.js'

export type { Client, Engine, Lend, Options, Word, World } from './worlds.js'
export { PATIENCE } from './worlds.js'

export const memoryEngine = memory('memory', false)
export const virtualEngine = memory('memory, virtual clock', true)
export const redisEngine = redis({ name: 'ioredis' })
const lent = new Set<Engine>()
/** Each client of the test on a connection of the caller's. */
export const lentEngine = (name: string, lend: Lend): Engine => {
  const engine = redis({ name, lend, concurrency: 8 })
  lent.add(engine)
  return engine
}
/** Every message that a release sends is lost. */
export const silencedEngine = redis({ name: 'ioredis without messages', silent: true })
const wanted = process.env['HOLDFAST_ROW']
/** What a test file is tried on; `npm run test:matrix` names one of the rows. */
export const engines: readonly Engine[] =
  wanted === undefined ? [memoryEngine, virtualEngine, redisEngine] : [rowOf(wanted)]

/** Whether the same test runs elsewhere, too: nearly all that the embedded engine does by the real clock, it does by the virtual one. */
const isAgain = (engine: Engine, needs: string | undefined): boolean =>
  (engine === memoryEngine && needs !== 'real clock') ||
  lent.has(engine) ||
  engine === silencedEngine ||
  ROWS.includes(engine)

/** The reason to skip, or undefined. */
export const started = async (engine: Engine): Promise<string | undefined> => {
  try {
    await engine.start?.()
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const required = (process.env['HOLDFAST_REQUIRE'] ?? '').includes('redis')
    if (code !== 'ABSENT' && (code !== 'NO_REDIS' || required)) throw error
    return (error as Error).message
  }
}

/** A Redis server for one test, which must stop it. Skips the test, and returns undefined, if none can be started. */
export const ownRedis = async (t: TestContext): Promise<RedisServer | undefined> => {
  let server: RedisServer | undefined
  const start = async (): Promise<void> => {
    server = await startRedis()
  }
  const reason = await started({ ...redisEngine, start })
  if (reason !== undefined) t.skip(reason)
  return server
}

/** Adds a test. With 'real clock' it is left out where time is virtual; where its row lacks what it needs it is skipped. */
export type Scenario = (name: string, body: (world: World) => Promise<void>, needs?: 'real clock' | Feature) => void

/**
 * Inside a `describe`: starts the engine before, stops it after, and gives the way to add tests to it. `all`: what each of
 * them needs.
 */
export const scenarios = (engine: Engine, defaults?: Partial<Options>, patience = 0, all?: Feature): Scenario => {
  let reason: string | undefined
  before(async () => {
    reason = await started(engine)
  })
  after(async () => {
    await engine.stop?.()
  })
  return (name, body, needs) => {
    if (needs === 'real clock' && engine.virtual) return
    if (isAgain(engine, needs) && leftOut(name)) return
    void test(name, { timeout: 2 * PATIENCE }, async (t) => {
      const lacks = engine.lacks?.find((feature) => feature === needs || feature === all)
      if (lacks !== undefined) {
        t.skip(`no ${lacks} there`)
        return
      }
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
