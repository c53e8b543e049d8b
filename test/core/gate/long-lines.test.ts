import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Lock } from 'holdfast'
import {
  fairDeadlines,
  fairQueue,
  keyedDeadlines,
  keyedQueue,
  keyedSets,
  lineDeadlines,
  lineQueue,
  readCompanion,
  readWriteDeadlines,
  readWriteQueue,
} from '#src/keys.js'
import { fieldOf } from '#src/sync/keyed-lock/field-of-key.js'
import { UnitOfWork } from '#src/base/owner.js'
import type { Client } from '../../support/engines.js'
import { type Broken, onServer } from '../../support/server.js'

/** What a stranger wrote, and what is shown of it. */
const FORGED = 100_000
const SHOWN = 10_000
/** How long the event loop may stand still, ms. */
const STILL = 300

type Make = (client: Client) => Lock

interface Line {
  readonly make: Make
  /** The line, the deadlines, and of keyed locks what each wants. */
  readonly keys: readonly string[]
}

const NAME = 'n'
const LINES: Readonly<Record<string, Line>> = {
  lock: { make: (client) => client.lock(NAME), keys: [lineQueue(NAME), lineDeadlines(NAME)] },
  fencedLock: { make: (client) => client.fencedLock(NAME), keys: [lineQueue(NAME), lineDeadlines(NAME)] },
  fairLock: { make: (client) => client.fairLock(NAME), keys: [fairQueue(NAME), fairDeadlines(NAME)] },
  'write side': {
    make: (client) => client.readWriteLock(NAME).write,
    keys: [readWriteQueue(NAME), readWriteDeadlines(NAME)],
  },
  keyedLock: {
    make: (client) => client.keyedLock(NAME, ['k']),
    keys: [keyedQueue(NAME), keyedDeadlines(NAME), keyedSets(NAME)],
  },
}

/** Each of another client, as ours would write it. */
const OWNER = "string.format('%08x-1111-4111-8111-111111111111:1', i)"
const FORGE_LINE = `
  for i = 1, tonumber(ARGV[1]) do
    local owner = ${OWNER}
    redis.call('RPUSH', KEYS[1], owner)
    redis.call('ZADD', KEYS[2], ARGV[2], owner)
    if KEYS[3] then redis.call('HSET', KEYS[3], owner, ARGV[3]) end
  end`
const FORGE_READERS = `
  redis.call('HSET', KEYS[1], 'mode', 'read')
  redis.call('PEXPIRE', KEYS[1], 600000)
  for i = 1, tonumber(ARGV[1]) do
    local owner = ${OWNER}
    redis.call('HSET', KEYS[1], owner, 1)
    if i <= tonumber(ARGV[2]) then redis.call('SET', ARGV[3] .. ':' .. owner .. ':rwlock_timeout:1', 1, 'PX', 600000) end
  end`

/** How often the server ran a command. */
const ran = async ({ redis }: Broken, command: string): Promise<number> =>
  Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1] ?? 0)

/** What it comes to, while the event loop goes on. */
const whileTicking = async <T>(work: () => Promise<T>): Promise<T> => {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const done = await work()
  delay.disable()
  assert.ok(delay.max / 1e6 < STILL, `the event loop stood still for ${(delay.max / 1e6).toFixed(0)} ms`)
  return done
}

/** The most labels that were asked for at once. */
const watchLabels = ({ proxy }: Broken): (() => number) => {
  let most = 0
  proxy.onRequest = (request) => {
    most = Math.max(most, request.match(/\r\nget\r\n/gi)?.length ?? 0)
  }
  return () => most
}

for (const [kind, { make, keys }] of Object.entries(LINES)) {
  onServer(
    `${kind}: a stranger wrote ${FORGED} places into its line → some are shown, and questions about the hold read none`,
    async (broken) => {
      const { redis } = broken
      const [client, plain] = [await broken.open(), await broken.open({ presence: false })]
      const lock = make(client)
      const owner = new UnitOfWork()
      const hold = await lock.acquire({ owner })
      await redis.eval(FORGE_LINE, keys.length, ...keys, FORGED, Date.now() + 600_000, fieldOf('"k"'))
      const most = watchLabels(broken)

      const state = await whileTicking(() => lock.inspect())
      assert.equal(state.holders.length, 1)
      assert.equal(state.more, true)
      assert.ok(
        state.waiting.length <= SHOWN && (kind === 'keyedLock' || state.waiting.length === SHOWN),
        String(state.waiting.length),
      )
      assert.ok(most() <= 100, `${most()} labels at once`)

      const before = await ran(broken, 'lrange')
      assert.equal(await lock.for(owner).holdCount(), 1)
      assert.equal(await lock.for(owner).isHeld(), true)
      assert.equal(await make(plain).for(new UnitOfWork()).isHeld(), false)
      assert.equal(await lock.isLocked(), true)
      assert.ok(((await lock.remaining()) ?? 0) > 0)
      if (kind === 'fencedLock') assert.equal(await client.fencedLock(NAME).for(owner).token(), 1n)
      assert.equal(await ran(broken, 'lrange'), before)

      await redis.del(...keys)
      const short = await lock.inspect()
      assert.ok(!('more' in short))
      assert.deepEqual(short.waiting, [])
      await hold.release()
    },
  )
}

for (const living of [SHOWN + 2000, 0]) {
  onServer(
    `${FORGED} readers, of whom ${living} live → some are shown, and one’s own count is found among them`,
    async (broken) => {
      const { redis } = broken
      const client = await broken.open()
      const { read } = client.readWriteLock(NAME)
      const owner = new UnitOfWork()
      const hold = await read.acquire({ owner })
      await redis.eval(FORGE_READERS, 1, NAME, FORGED, living, readCompanion(NAME))
      const most = watchLabels(broken)
      const state = await whileTicking(() => read.inspect())
      assert.equal(state.more, true)
      assert.ok(state.holders.length <= SHOWN)
      assert.ok(most() <= 100, `${most()} labels at once`)
      const before = await ran(broken, 'hscan')
      assert.equal(await read.for(owner).holdCount(), 1)
      assert.equal(await read.for(new UnitOfWork()).holdCount(), 0)
      // One part of them each, of 200.
      assert.ok((await ran(broken, 'hscan')) - before <= 20)
      await hold.release()
    },
  )
}

onServer(
  'several locks, of one of which a stranger filled the line → inspect says that there are more, and questions about the hold read none',
  async (broken) => {
    const { redis } = broken
    const client = await broken.open()
    const lock = client.multiLock(client.lock(NAME), client.lock('other'))
    const owner = new UnitOfWork()
    await lock.for(owner).lock()
    await redis.eval(FORGE_LINE, 2, lineQueue(NAME), lineDeadlines(NAME), SHOWN + 1, Date.now() + 600_000)
    const state = await lock.inspect()
    assert.deepEqual([state.holders.length, state.waiting.length, state.more], [2, SHOWN, true])
    await redis.del(lineQueue(NAME))
    await redis.set(lineQueue(NAME), 'no list')
    assert.equal(await lock.for(owner).holdCount(), 1)
    assert.equal(await lock.isLocked(), true)
    await redis.del(lineQueue(NAME), lineDeadlines(NAME))
    await lock.for(owner).unlock()
    assert.equal(await lock.isLocked(), false)
  },
)
