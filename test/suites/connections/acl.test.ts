import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { globMatches } from '#src/engine/memory/glob.js'
import * as keys from '#src/keys.js'
import * as scripts from '#src/lua/scripts.gen.js'
import { rejection } from '../contract/lock/kind.js'
import { smoke } from '../contract/smoke.js'
import { rowOf } from '../../support/rows.js'
import { admit, ANY_LINE, APP_LINE, READER_LINE } from '../../support/acl.js'
import { onServer } from '../../support/server.js'

const ID = '01234567-89ab-4cde-8f01-23456789abcd'
const OWNER = `${ID}:1`

/** What each function of `keys.ts` that builds a name is for; a channel that scripts are given as a key is both. */
const SHAPES: Readonly<Record<string, { as: ('key' | 'channel')[]; of(name: string): string }>> = {
  lockChannel: { as: ['key', 'channel'], of: keys.lockChannel },
  fencingCounter: { as: ['key'], of: keys.fencingCounter },
  fairQueue: { as: ['key'], of: keys.fairQueue },
  fairDeadlines: { as: ['key'], of: keys.fairDeadlines },
  lineQueue: { as: ['key'], of: keys.lineQueue },
  lineDeadlines: { as: ['key'], of: keys.lineDeadlines },
  lineTurn: { as: ['key'], of: keys.lineTurn },
  lineGrants: { as: ['channel'], of: (name) => `${keys.lineGrants(name)}:${ID}` },
  keyedQueue: { as: ['key'], of: keys.keyedQueue },
  keyedDeadlines: { as: ['key'], of: keys.keyedDeadlines },
  keyedSets: { as: ['key'], of: keys.keyedSets },
  keyedTurn: { as: ['key'], of: keys.keyedTurn },
  keyedGrants: { as: ['channel'], of: (name) => `${keys.keyedGrants(name)}:${ID}:0123456789abcdef` },
  fairCall: { as: ['channel'], of: (name) => keys.fairCall(name, OWNER) },
  grantChannel: { as: ['channel'], of: (name) => `${keys.grantChannel(name)}:${ID}` },
  semaphoreChannel: { as: ['key', 'channel'], of: keys.semaphoreChannel },
  permitTimeouts: { as: ['key'], of: keys.permitTimeouts },
  limiterValue: { as: ['key'], of: (name) => keys.limiterValue(name, ID) },
  limiterPermits: { as: ['key'], of: (name) => keys.limiterPermits(name, ID) },
  limiterChannel: { as: ['key', 'channel'], of: keys.limiterChannel },
  limiterOrder: { as: ['key'], of: keys.limiterOrder },
  limiterPlaces: { as: ['key'], of: keys.limiterPlaces },
  limiterGrants: { as: ['channel'], of: (name) => `${keys.limiterGrants(name)}:${ID}` },
  latchChannel: { as: ['key', 'channel'], of: keys.latchChannel },
  permitsQueue: { as: ['key'], of: keys.permitsQueue },
  permitsDeadlines: { as: ['key'], of: keys.permitsDeadlines },
  permitsAmounts: { as: ['key'], of: keys.permitsAmounts },
  permitsTurn: { as: ['key'], of: keys.permitsTurn },
  permitsGrants: { as: ['channel'], of: (name) => `${keys.permitsGrants(name)}:${ID}` },
  expirableQueue: { as: ['key'], of: keys.expirableQueue },
  expirableDeadlines: { as: ['key'], of: keys.expirableDeadlines },
  expirableAmounts: { as: ['key'], of: keys.expirableAmounts },
  expirableTurn: { as: ['key'], of: keys.expirableTurn },
  expirableGrants: { as: ['channel'], of: (name) => `${keys.expirableGrants(name)}:${ID}` },
  noteKey: { as: ['key'], of: (name) => keys.noteKey(name, ID, 1) },
  readWriteChannel: { as: ['key', 'channel'], of: keys.readWriteChannel },
  readCompanion: { as: ['key'], of: keys.readCompanion },
  readLevels: { as: ['key'], of: (name) => `${keys.readLevels(name, OWNER)}:1` },
  readWriteTurn: { as: ['key'], of: keys.readWriteTurn },
  readWriteQueue: { as: ['key'], of: keys.readWriteQueue },
  readWriteDeadlines: { as: ['key'], of: keys.readWriteDeadlines },
  readWriteGrants: { as: ['channel'], of: (name) => `${keys.readWriteGrants(name)}:${ID}` },
  leaderKey: { as: ['key'], of: keys.leaderKey },
  leaderChannel: { as: ['key', 'channel'], of: keys.leaderChannel },
  slotRecord: { as: ['key'], of: (name) => keys.slotRecord(name, '2026-11-26') },
  slotLock: { as: ['key'], of: (name) => keys.lineQueue(keys.slotLock(name, '2026-11-26')) },
  slotsToken: { as: ['key'], of: keys.slotsToken },
  slotsLast: { as: ['key'], of: keys.slotsLast },
  flightRecord: { as: ['key'], of: (name) => keys.flightRecord(name, 'a') },
  flightLock: { as: ['key'], of: (name) => keys.lineQueue(keys.flightLock(name, 'a')) },
  flightChannel: { as: ['key', 'channel'], of: (name) => keys.flightChannel(name, 'a') },
  flightsToken: { as: ['key'], of: keys.flightsToken },
  presenceKey: { as: ['key'], of: () => keys.presenceKey(ID) },
  registerKey: { as: ['key'], of: keys.registerKey },
  indexKey: { as: ['key'], of: () => keys.indexKey(ID) },
  waitsKey: { as: ['key'], of: () => keys.waitsKey(ID) },
  deadlockKey: { as: ['key'], of: () => keys.deadlockKey('0'.repeat(40)) },
  forcedKey: { as: ['key'], of: keys.forcedKey },
}
/** Of `keys.ts`, too, but no names. */
const OTHERS = [
  'secretOf',
  'wireOwner',
  'isWireOwner',
  'isClientId',
  'clientOf',
  'numberOf',
  'numberless',
  'slotOf',
  'mustShareSlot',
]

/** With braces and without: those are put around a whole name that has none. */
const NAMES = ['app:orders', 'app:{orders}:7']

const namesOf = (as: 'key' | 'channel'): string[] =>
  Object.values(SHAPES)
    .filter((shape) => shape.as.includes(as))
    .flatMap(({ of }) => NAMES.map(of))
    .concat(as === 'key' ? NAMES : [])

const bytes = (text: string): Buffer => Buffer.from(text)
const fits = (pattern: string, name: string): boolean =>
  globMatches(...([pattern, name].map((text) => bytes(text).toString('latin1')) as Parameters<typeof globMatches>))

/** What the scripts call, and what the library sends itself. */
const SENT = [
  ...[
    'ping',
    'select',
    'info',
    'time',
    'wait',
    'get',
    'set',
    'del',
    'pexpire',
    'eval',
    'evalsha',
    'cluster|info',
    'cluster|slots',
  ],
  ...[
    'subscribe',
    'unsubscribe',
    'ssubscribe',
    'sunsubscribe',
    'publish',
    'spublish',
    'pubsub|numsub',
    'pubsub|shardnumsub',
  ],
]
const SOURCE = fileURLToPath(new URL('../../../../src/', import.meta.url))
const calledIn = (lua: string): string[] =>
  [...lua.matchAll(/call(?:\(|, )'(\w+)'/g)]
    .map(([, word = '']) => word.toLowerCase())
    .filter((word) => word !== 'pubsub')
const called = (): string[] => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua') && !file.startsWith('testing'))
    .map((file) => SOURCE + file)
  return files.flatMap((file) => calledIn(readFileSync(file, 'utf8')))
}
/** What a user who only looks needs. */
const LOOKS = [
  'ping',
  'select',
  'info',
  'eval',
  'evalsha',
  'cluster|info',
  'cluster|slots',
  'get',
  'scan',
  'dbsize',
  'type',
]

void describe('the lines of SECURITY.md', { concurrency: 2 }, () => {
  test('every shape of a key and of a channel → one of the patterns, and none is in vain', () => {
    assert.deepEqual(Object.keys(keys).sort(), [...Object.keys(SHAPES), ...OTHERS].sort(), 'a shape without a row here')
    for (const [as, patterns] of [
      ['key', APP_LINE.keys],
      ['channel', APP_LINE.channels],
    ] as const) {
      const names = namesOf(as)
      for (const name of names)
        assert.ok(
          patterns.some((pattern) => fits(pattern, name)),
          `${as} ${name}`,
        )
      for (const pattern of patterns)
        assert.ok(
          names.some((name) => fits(pattern, name)),
          `${as} pattern ${pattern}`,
        )
    }
    assert.deepEqual([ANY_LINE.keys, ANY_LINE.channels], [['*'], ['*']])
  })

  test('commands → those that scripts call or that are sent, and no other', () => {
    const wanted = [...new Set([...called(), ...SENT])].sort()
    for (const { commands } of [APP_LINE, ANY_LINE]) assert.deepEqual([...commands].sort(), wanted)
    const reading = Object.values(scripts).filter(({ name }) => /^listing\/|\/inspect$/.test(name))
    const looks = reading.flatMap(({ text }) => calledIn(text)).concat(LOOKS)
    assert.deepEqual([...READER_LINE.commands].sort(), [...new Set(looks)].sort())
    assert.deepEqual([READER_LINE.keys, READER_LINE.channels], [['*'], []])
  })

  for (const [what, line, names] of [
    [
      'names that begin with app:',
      APP_LINE,
      ['other', 'xapp:', 'app', '{other}:app:', 'holdfast:clients', 'redisson_lock_queue:{other}'],
    ],
    ['any name', ANY_LINE, []],
  ] as const) {
    onServer(
      `${what} → everything else is NOPERM`,
      async ({ server, redis }) => {
        const user = await admit(redis, line, 'secret-of-a-test')
        const restricted = new Redis(`redis://${user}@127.0.0.1:${server.port}`, {
          disableClientInfo: true,
          enableReadyCheck: false,
        })
        const refused = async (...[name = '', ...args]: string[]): Promise<void> => {
          const error = await rejection(restricted.call(name, ...args))
          // Of what a script does Redis 7.0 says it in other words.
          assert.match(String(error), /NOPERM|The user executing the script can't/, [name, ...args].join(' '))
        }
        try {
          assert.equal(await restricted.set('app:mine', '1', 'PX', 1000), 'OK')
          for (const words of [
            ...[
              'CONFIG GET maxmemory',
              'FLUSHALL',
              'FLUSHDB',
              'KEYS *',
              'SCAN 0',
              'DEBUG SLEEP 0',
              'MONITOR',
              'SHUTDOWN',
            ],
            ...['ACL LIST', 'ACL SETUSER holdfast +@all', 'CLIENT LIST', 'SCRIPT FLUSH', 'FUNCTION FLUSH', 'SAVE'],
            ...['RENAME app:mine app:other', 'TOUCH app:mine', 'SORT app:mine', 'DUMP app:mine', 'PSUBSCRIBE app:*'],
            ...[
              'REPLICAOF NO ONE',
              'CLUSTER RESET',
              'PUBSUB CHANNELS *',
              'SWAPDB 0 1',
              'LATENCY DOCTOR',
              'OBJECT HELP',
            ],
          ])
            await refused(...words.split(' '))
          for (const name of names) {
            await refused('GET', name)
            await refused('SET', name, '1')
            await refused('DEL', name)
            await refused('EVAL', 'return 1', '1', name)
            await refused('PUBLISH', name, '0')
            await refused('SUBSCRIBE', name)
            await refused('SSUBSCRIBE', name)
            // What a script does is looked at, too, whatever keys it was given.
            await refused('EVAL', `return redis.call('GET', '${name}')`, '1', 'app:mine')
            await refused('EVAL', `return redis.call('PUBLISH', '${name}', '0')`, '0')
          }
          await refused('EVAL', `return redis.call('FLUSHALL')`, '0')
        } finally {
          restricted.disconnect()
        }
      },
      ['--enable-debug-command', 'yes'],
    )
  }
})

for (const name of ['ACL for `app:`', 'ACL for any name']) smoke(rowOf(name))
