import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe } from 'node:test'
import type { Script } from '#src/lua/script.js'
import * as scripts from '#src/lua/scripts.gen.js'
import { redisEngine, scenarios, type Word, type World } from '../support/engines.js'

/** A client of ours, and some of its owners. */
const CLIENT = '00000000-0000-8100-8000-000000000001'
const [ONE, TWO] = [`${CLIENT}:1`, `${CLIENT}:2`]
const FOREVER = 9_000_000_000_000
const LEASE = 5000
const LINE = ['k', 'k:queue', 'k:deadlines']
const ID = '0123456789abcdef0123456789abcdef'

interface Step {
  readonly script: Pick<Script<never, never, never>, 'text'>
  readonly keys: readonly string[]
  readonly args: readonly Word[]
  /** What is there before. */
  readonly before?: readonly (readonly Word[])[]
}

const HELD: Step['before'] = [
  ['HSET', 'k', ONE, 1],
  ['PEXPIRE', 'k', 60_000],
]
const WAITED: Step['before'] = [
  ...HELD,
  ['RPUSH', 'k:queue', TWO],
  ['ZADD', 'k:deadlines', FOREVER, TWO],
  ['PEXPIRE', 'k:queue', 60_000],
  ['PEXPIRE', 'k:deadlines', 60_000],
]
/** On trial it stands in the line still. */
const GRANTED: Step['before'] = [
  ...HELD,
  ['RPUSH', 'k:queue', ONE],
  ['ZADD', 'k:deadlines', FOREVER + 0.5, ONE],
  ['PEXPIRE', 'k:queue', 60_000],
  ['PEXPIRE', 'k:deadlines', 60_000],
]
const enqueue = [5000, FOREVER, 'channel', 'grants', 'PUBLISH', TWO, LEASE]
const ask = (owner: string): Word[] => ['1', FOREVER, 'c', 'grants', 'PUBLISH', 0, owner, LEASE]

const askPlain = ['1', FOREVER, 'channel', 'grants', 'PUBLISH', '0', '0', TWO, LEASE]
const leavePlain = [ONE, 'channel', 'grants', 'PUBLISH', 6]

/** Of a group: its line has what each place wants, too. */
const [X, Y] = ['x'.repeat(22), 'y'.repeat(22)]
const GROUP = ['k', 'k:queue', 'k:turn', 'k:sets', 'k:deadlines']
const PLACES = ['k', 'k:queue', 'k:deadlines', 'k:sets']
const KEYS_HELD: Step['before'] = [
  [
    'HSET',
    'k',
    ...[X, Y].flatMap((key) => [key, ONE, `${key}:${ONE}:expire_time`, FOREVER, `${key}:${ONE}:lock_count`, 1]),
  ],
  ['PEXPIRE', 'k', 60_000],
]
const KEYS_WAITED: Step['before'] = [
  ...KEYS_HELD,
  ...WAITED.slice(2),
  ['HSET', 'k:sets', TWO, `${X} ${Y}`],
  ['PEXPIRE', 'k:sets', 60_000],
]
const KEYS_GRANTED: Step['before'] = [
  ...KEYS_HELD,
  ...GRANTED.slice(2),
  ['HSET', 'k:sets', ONE, `${X} ${Y}`],
  ['PEXPIRE', 'k:sets', 60_000],
]
const askKeys = ['1', FOREVER, 'channel', 'grants', 'PUBLISH', 0, 0, `${X} ${Y}`, TWO, LEASE]
/** Where grants of this set are heard. */
const OF_KEYS = `grants:${CLIENT}:${hash('sha1', `${X} ${Y}`, 'hex').slice(0, 16)}`

/** Each script that makes a hold, a permit or a place in a line, run as if its client died right after it. */
const STEPS: Readonly<Record<string, Step>> = {
  'lock/acquire': { script: scripts.lockAcquire, keys: ['k', 'k:queue', 'k:turn'], args: [ONE, LEASE] },
  'lock/ask, free': { script: scripts.lockAsk, keys: [...LINE, 'k:turn'], args: askPlain },
  'lock/ask, held': { script: scripts.lockAsk, keys: [...LINE, 'k:turn'], args: askPlain, before: HELD },
  'lock/ask, left to others': {
    ...{ script: scripts.lockAsk, keys: [...LINE, 'k:turn'], args: askPlain },
    before: [
      ['HSET', 'k:turn', 'till', 1, 'share', 1, 'came', 0, 'after', 0],
      ['PEXPIRE', 'k:turn', 4500],
    ],
  },
  'lock/ask, with a counter': { script: scripts.lockAsk, keys: [...LINE, 'k:turn', 'token'], args: askPlain },
  'lock/confirm, with a counter': {
    ...{ script: scripts.lockConfirm, keys: [...LINE, 'token'], args: [ONE, LEASE, '0'], before: GRANTED },
  },
  'lock/release': { script: scripts.lockRelease, keys: [...LINE, 'k:turn'], args: leavePlain, before: WAITED },
  'lock/release, nobody waits': {
    ...{ script: scripts.lockRelease, keys: [...LINE, 'k:turn'], args: leavePlain, before: HELD },
  },
  'lock/release, others listen': {
    ...{
      script: scripts.lockRelease,
      keys: [...LINE, 'k:turn'],
      args: [ONE, `grants:${CLIENT}`, 'grants', 'PUBLISH', 6],
    },
    before: WAITED,
  },
  'lock/force-release': {
    ...{ script: scripts.lockForceRelease, keys: LINE, args: ['channel', 'grants', 'PUBLISH'], before: WAITED },
  },
  'lock/pass': { script: scripts.lockPass, keys: ['k'], args: [ONE, TWO, LEASE], before: HELD },
  'fenced-lock/acquire': {
    script: scripts.fencedLockAcquire,
    keys: ['k', 'k:queue', 'k:turn', 'token'],
    args: [ONE, LEASE, '0'],
  },
  'fenced-lock/pass': {
    ...{ script: scripts.fencedLockPass, keys: ['k', 'token'], args: [ONE, TWO, LEASE, '0'], before: HELD },
  },
  'fair-lock/try': { script: scripts.fairLockTry, keys: LINE, args: [ONE, LEASE, 'channel', 'PUBLISH'] },
  'fair-lock/enqueue, free': { script: scripts.fairLockEnqueue, keys: LINE, args: enqueue },
  'fair-lock/enqueue, held': { script: scripts.fairLockEnqueue, keys: LINE, args: enqueue, before: HELD },
  'fair-lock/poll': {
    ...{ script: scripts.fairLockPoll, keys: LINE, args: [5000, 'channel', 'grants', 'PUBLISH', TWO, LEASE] },
    before: WAITED.slice(2),
  },
  'fair-lock/leave': {
    ...{ script: scripts.fairLockLeave, keys: LINE, args: [ONE, LEASE, 5000, 'channel', 'grants', 'PUBLISH'] },
    before: WAITED,
  },
  'fair-lock/force-release': {
    ...{ script: scripts.fairLockForceRelease, keys: LINE, args: [LEASE, 5000, 'channel', 'grants', 'PUBLISH'] },
    before: WAITED,
  },
  'read-write-lock/ask, write': {
    script: scripts.readWriteLockAsk,
    keys: [...LINE, 'k:turn'],
    args: ask(`${ONE}:write`),
  },
  'read-write-lock/ask, read': { script: scripts.readWriteLockAsk, keys: [...LINE, 'k:turn'], args: ask(ONE) },
  'read-write-lock/ask, held': {
    ...{ script: scripts.readWriteLockAsk, keys: [...LINE, 'k:turn'], args: ask(TWO) },
    before: [
      ['HSET', 'k', 'mode', 'write', `${ONE}:write`, 1],
      ['PEXPIRE', 'k', 60_000],
    ],
  },
  'read-write-lock/release': {
    ...{ script: scripts.readWriteLockRelease, keys: [...LINE, 'k:turn'] },
    args: ['c', 'channel', 'grants', 'PUBLISH', 6, `${ONE}:write`],
    before: [['HSET', 'k', 'mode', 'write', `${ONE}:write`, 1], ...WAITED.slice(1)],
  },
  'read-write-lock/acquire, write': {
    ...{ script: scripts.readWriteLockAcquire, keys: ['k', 'k:queue', 'k:turn'], args: [`${ONE}:write`, LEASE, 'c'] },
  },
  'read-write-lock/acquire, read': {
    ...{ script: scripts.readWriteLockAcquire, keys: ['k', 'k:queue', 'k:turn'], args: [ONE, LEASE, 'c'] },
  },
  'keyed-lock/acquire': { script: scripts.keyedLockAcquire, keys: ['k'], args: [ONE, LEASE, X, Y] },
  'keyed-lock/acquire, beside a line': {
    ...{
      script: scripts.keyedLockAcquire,
      keys: GROUP.slice(0, 4),
      args: [ONE, LEASE, 'z'.repeat(22)],
      before: KEYS_WAITED,
    },
  },
  'keyed-lock/ask, free': { script: scripts.keyedLockAsk, keys: GROUP, args: askKeys },
  'keyed-lock/ask, held': { script: scripts.keyedLockAsk, keys: GROUP, args: askKeys, before: KEYS_HELD },
  'keyed-lock/confirm': {
    ...{ script: scripts.keyedLockConfirm, keys: PLACES, args: [ONE, LEASE, `${X} ${Y}`], before: KEYS_GRANTED },
  },
  'keyed-lock/release': {
    ...{ script: scripts.keyedLockRelease, keys: GROUP, before: KEYS_WAITED },
    args: [ONE, 'channel', 'grants', 'PUBLISH', 6, X, Y],
  },
  'keyed-lock/force-release': {
    ...{ script: scripts.keyedLockForceRelease, keys: PLACES, before: KEYS_WAITED },
    args: ['channel', 'grants', 'PUBLISH', X, Y],
  },
  'classic-fair-lock/ask': {
    ...{ script: scripts.classicFairLockAsk, keys: LINE, args: ['1', '0', FOREVER, ONE, LEASE, 5000] },
  },
  'permit-semaphore/acquire': {
    ...{ script: scripts.permitSemaphoreAcquire, keys: ['permits', 'note', 'q', 'd', 't', 'timeouts'] },
    args: ['c', 'PUBLISH', LEASE, 1, ID],
    before: [['SET', 'permits', 1, 'PX', 60_000]],
  },
}

/** At first none, so that each step is seen to work. */
const COMMANDS = [
  '',
  ...['hset', 'hdel', 'pexpire', 'pexpireat', 'set', 'del', 'rpush', 'lrem', 'lpop', 'zadd', 'zrem'],
  ...['incr', 'incrby', 'decrby', 'publish', 'pubsub'],
]

/** What is there without an expiry. Tokens go up for ever. */
const withoutExpiry = async (w: World): Promise<string[]> => {
  const left: string[] = []
  for (const key of (await w.raw('KEYS', '*')) as string[])
    if (key !== 'token' && (await w.raw('PTTL', key)) === -1) left.push(key)
  return left
}

void describe('a script that is refused a command, and whose client does nothing about it', () => {
  const scenario = scenarios(redisEngine)

  for (const [name, { script, keys, args, before = [] }] of Object.entries(STEPS)) {
    scenario(`${name} → nothing stays without an expiry, and nobody is told of a hold that is not there`, async (w) => {
      const heard = await w.messages(name.startsWith('keyed') ? OF_KEYS : `grants:${CLIENT}`)
      for (const command of COMMANDS) {
        for (const words of before) await w.raw(...words)
        heard.length = 0
        if (command !== '') await w.raw('ACL', 'SETUSER', 'default', `-${command}`)
        const refused = await w
          .raw('EVAL', script.text, keys.length, ...keys, ...args)
          .then(() => false)
          .catch(() => true)
        await w.raw('ACL', 'SETUSER', 'default', '+@all')
        assert.ok(!refused || command !== '', 'refused although it may do everything')
        assert.deepEqual(await withoutExpiry(w), [], command)
        await w.pass(1)
        const granted = heard.some((message) => message !== '0')
        if (command === '' && /^(fair-|keyed-|lock\/(?!release,)).*(?:leave|release)/.test(name))
          assert.ok(granted, 'nobody was told')
        const held = (await w.raw('HEXISTS', 'k', TWO)) === 1 || (await w.raw('HGET', 'k', Y)) === TWO
        assert.ok(!granted || held, `${command}: told of a hold that is not there`)
        const permits = await w.raw('GET', 'permits')
        if (refused && permits !== null) assert.equal(permits, '1', command)
        const uncounted = name.includes('counter') && command === 'incr' && (await w.raw('EXISTS', 'k')) === 1
        assert.ok(!uncounted, 'held without a token')
        await w.raw('FLUSHDB')
      }
    })
  }
})
