import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { AcquireTimeoutError, EngineError, type Hold, MembersError } from 'holdfast'
import { kinds } from '../../contract/kinds.js'
import { SHORT } from '../../contract/lock/kind.js'
import { type Client, redisEngine, scenarios, type World } from '../../../support/engines.js'

/** Everything that a script of a lock or of a semaphore writes with, and what it tells others with. */
const COMMANDS = [
  ...['hset', 'hdel', 'pexpire', 'pexpireat', 'set', 'del', 'rpush', 'lrem', 'lpop', 'zadd', 'zrem', 'zincrby'],
  ...['incr', 'incrby', 'decrby', 'zremrangebyrank', 'publish', 'pubsub'],
]
/** Whatever they hold, by name: a hold of a lock or a permit. */
type Have = Pick<Hold, 'release' | 'remaining'> & Partial<Pick<Hold, 'detach'>>
interface Subject {
  readonly name: string
  readonly options: object
  acquire(client: Client, name: string, wait: number): Promise<Have>
}

const subjects: readonly Subject[] = [
  ...kinds.map(({ name, make, options = {} }) => ({
    ...{ name, options },
    acquire: (client: Client, key: string, wait: number) => make(client, key).acquire({ wait }),
  })),
  {
    ...{ name: 'permitSemaphore', options: {} },
    acquire: (client, key, wait) => client.permitSemaphore(key).acquire({ wait, lease: SHORT }),
  },
]

/**
 * Tokens go up for ever. How many permits there are stays until somebody deletes it; beside it stand the ends of those taken,
 * which count by themselves. The line of a Redisson before version 4 has no expiry: whoever comes next drops who is overdue.
 */
const isMeantToStay = (key: string): boolean =>
  key.startsWith('redisson_lock_token:') ||
  /permitSemaphore(?:\}:timeout)?$/.test(key) ||
  /^redisson_lock_(?:queue|timeout):.*fairLock of /.test(key)

const withoutExpiry = async (w: World): Promise<string[]> => {
  const keys = ((await w.raw('KEYS', '*')) as string[]).filter((key) => !isMeantToStay(key))
  const left = await Promise.all(keys.map(async (key) => [key, await w.raw('PTTL', key)] as const))
  return left.filter(([, ms]) => ms === -1).map(([key]) => key)
}

/** How many owners the server has under a name. */
const owners = async (w: World, key: string): Promise<number> => {
  const type = await w.raw('TYPE', key)
  if (type === 'hash') {
    const fields = (await w.raw('HKEYS', key)) as string[]
    return fields.filter((field) => field !== 'mode' && !/:(?:expire_time|lock_count)$/.test(field)).length
  }
  return Number(await w.raw('ZCARD', `{${key}}:timeout`))
}

/** What came of a call. */
const outcome = (call: Promise<Have>): Promise<Have | Error> => call.catch((error: unknown) => error as Error)

/** Whoever was told that they hold does, by the server's word; everybody else heard of it in an error. */
const agree = async (w: World, key: string, had: readonly (Have | Error)[], step: string): Promise<void> => {
  const holds = had.filter((one) => !(one instanceof Error) && one.remaining() > 0)
  const count = await owners(w, key)
  assert.ok(holds.length <= count, `${key}: ${step}: ${holds.length} believe that they hold, ${count} do`)
  for (const error of had.filter((one) => one instanceof Error)) {
    const cause = error instanceof MembersError ? error.cause : error
    const known = cause instanceof EngineError ? cause.code === 'NOPERM' : cause instanceof AcquireTimeoutError
    assert.ok(known, `${key}: ${step}: ${error.stack ?? error.message}`)
  }
}

/** What is free, what is released to who waits, what somebody comes to wait for, and what is passed on. */
const STEPS = ['free', 'freed', 'held', 'passed'] as const
type Step = (typeof STEPS)[number]
const keyOf = (w: World, command: string, step: Step, subject: string): string => `${w.id}${command}${step}${subject}`

interface Play {
  readonly w: World
  /** Takes the command away, and gives it back. */
  readonly revoke: () => Promise<unknown>
  readonly subject: Subject
  readonly command: string
}

/** Each step while the command is refused; ends with both clients closed. */
const play = async ({ w, revoke, subject, command }: Play): Promise<() => Promise<void>> => {
  const options = { ...subject.options, watchdog: SHORT, commandTimeout: 2000 }
  const [one, other] = [await w.connect(options), await w.connect(options)]
  const key = (step: Step): string => keyOf(w, command, step, subject.name)
  if (subject.name === 'permitSemaphore') {
    for (const step of STEPS) await one.permitSemaphore(key(step)).trySetPermits(1)
  }
  const freed = await subject.acquire(one, key('freed'), 5000)
  const held = await subject.acquire(one, key('held'), 5000)
  const passed = await subject.acquire(one, key('passed'), 5000)
  // Several locks have no ticket, and pass as each of them does.
  const ticket = await passed.detach?.().catch(() => undefined)
  const waiting = outcome(subject.acquire(other, key('freed'), 1500))
  await w.pass(300)
  await revoke()
  return async () => {
    const free = outcome(subject.acquire(one, key('free'), 600))
    const behind = outcome(subject.acquire(other, key('held'), 600))
    await freed.release().catch((error: unknown) => {
      const cause = error instanceof MembersError ? error.cause : error
      assert.ok(cause instanceof EngineError && cause.code === 'NOPERM', String(error))
    })
    const adopted = ticket === undefined ? [] : [await outcome(other.adopt(ticket))]
    await agree(w, key('passed'), adopted, 'passed')
    await agree(w, key('free'), [await free], 'free')
    await agree(w, key('freed'), [await waiting], 'freed')
    await agree(w, key('held'), [await behind, held], 'held')
    await Promise.all([one.close(), other.close()])
  }
}

void describe('a command that is refused in the middle of a script', () => {
  const scenario = scenarios(redisEngine)

  for (const command of COMMANDS) {
    scenario(`${command} → nothing stays without an expiry, and nobody believes that they hold`, async (w) => {
      w.leavesKeys = true
      let waiting = subjects.length
      let all: () => void = () => undefined
      const prepared = new Promise<void>((resolve) => {
        all = resolve
      })
      const revoke = async (): Promise<void> => {
        waiting -= 1
        if (waiting > 0) return prepared
        await w.raw('ACL', 'SETUSER', 'default', `-${command}`)
        all()
      }
      try {
        const games = await Promise.all(subjects.map((subject) => play({ w, revoke, subject, command })))
        await Promise.all(games.map((end) => end()))
        assert.deepEqual(await withoutExpiry(w), [])
        await w.raw('ACL', 'SETUSER', 'default', '+@all')
        const semaphore = 'permitSemaphore'
        const client = await w.connect()
        for (const step of STEPS) {
          const permits = client.permitSemaphore(keyOf(w, command, step, semaphore))
          await w.eventually(async () => (await permits.available()) === 1)
        }
      } finally {
        await w.raw('ACL', 'SETUSER', 'default', '+@all')
        await w.raw('FLUSHDB')
      }
    })
  }

  for (const command of ['set', 'pexpire', 'zadd', 'incrby', 'hset', 'hsetnx']) {
    scenario(`${command}, for a limiter that ends by itself → nothing of it stays without an expiry`, async (w) => {
      w.leavesKeys = true
      const client = await w.connect()
      const [used, fresh, late] = ['used', 'fresh', 'late'].map((name) => client.rateLimiter(w.id + name))
      assert.ok(used !== undefined && fresh !== undefined && late !== undefined)
      const rate = { permits: 3, interval: 60_000, keepAlive: 60_000 }
      await used.trySetRate(rate)
      await used.acquire()
      await fresh.trySetRate(rate)
      try {
        await w.raw('ACL', 'SETUSER', 'default', `-${command}`)
        for (const call of [() => used.acquire(), () => fresh.acquire(), () => late.trySetRate(rate)]) {
          await call().catch((error: unknown) => {
            assert.ok(error instanceof EngineError && error.code === 'NOPERM', String(error))
          })
        }
        await client.close()
        assert.deepEqual(await withoutExpiry(w), [])
      } finally {
        await w.raw('ACL', 'SETUSER', 'default', '+@all')
        await w.raw('FLUSHDB')
      }
    })
  }
})
