import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import { CLIENT, slotsOf } from './hostile.js'

export type Word = string | number | Buffer
/** Commands without their key, which comes second. */
export type Commands = readonly (readonly [string, ...Word[]])[]

const KINDS = /^(?:semaphore|permit-semaphore|rate-limiter|latch|election|slots|core)\//
export const scripts = (Object.values(generated) as readonly Script[]).filter(({ name }) => KINDS.test(name))

/** A client that hears of what it is granted. */
export const HEARD = '0a1b2c3d-0a1b-8101-8001-0a1b2c3d4e50'
/** The client that asks, and its place in a line. */
export const OWNER = `${CLIENT}:0000000007`
export const ID = '00112233445566778899aabbccddeeff'
/** What a limiter's grant is: a length, 16 bytes, how many permits. */
const grantOf = (number: number, permits: number): Buffer => {
  const grant = Buffer.alloc(21)
  grant[0] = 16
  grant.writeUInt32LE(number, 1)
  grant.writeUInt32LE(permits, 17)
  return grant
}
const CALL = grantOf(4e9, 1)
const idOf = (number: number): Buffer => {
  const id = Buffer.alloc(16)
  id.writeUInt32LE(number)
  return id
}

const VOICES = ['c', 'g', 'PUBLISH']
const RATE = [10, 60_000, 0, 0]
const CALLS = [30_000, 1, ID]

/** How each script is called; in more than one way where that makes it do other things. */
const ARGUMENTS: Readonly<Record<string, readonly (readonly Word[])[]>> = {
  'semaphore/acquire': [[1, 2]],
  'semaphore/add': [
    [1, 1, CLIENT, 1, 1, ...VOICES],
    [2_147_483_647, 0, OWNER, 0, 1, ...VOICES],
    [-2_147_483_647, 1, CLIENT, 3, 1, ...VOICES],
  ],
  'semaphore/ask': [
    [OWNER, 1, 0, 1, ...VOICES, 1],
    [OWNER, 0, 1, 2, ...VOICES, 1, 2],
  ],
  'semaphore/drain': [[]],
  'semaphore/leave': [[OWNER, 1, ...VOICES]],
  'semaphore/try-set-permits': [[5, 60_000, CLIENT, 1, ...VOICES]],
  'semaphore/undo': [[CLIENT, 1, ...VOICES]],
  'permit-semaphore/acquire': [['c', 'PUBLISH', ...CALLS]],
  'permit-semaphore/add': [
    [1, CLIENT, 1, ...VOICES],
    [-2_147_483_647, CLIENT, 1, ...VOICES],
  ],
  'permit-semaphore/ask': [
    [OWNER, 1, 0, 1, ...VOICES, ...CALLS],
    [OWNER, 0, 1, 2, ...VOICES, ...CALLS],
  ],
  'permit-semaphore/count': [VOICES],
  'permit-semaphore/extend': [[ID, 30_000]],
  'permit-semaphore/lease-time': [[ID]],
  'permit-semaphore/leave': [[OWNER, 1, ...VOICES]],
  'permit-semaphore/pass': [[ID, 30_000, 1, 'ff'.repeat(16)]],
  'permit-semaphore/release': [[CLIENT, 1, 1, ...VOICES, ID]],
  'permit-semaphore/renew': [
    [30_000, ID],
    [0, ID],
  ],
  'permit-semaphore/set-lease': [[ID, 30_000]],
  'permit-semaphore/set-permits': [[5, CLIENT, 1, ...VOICES]],
  'permit-semaphore/try-set-permits': [[5, CLIENT, 1, ...VOICES]],
  'permit-semaphore/undo': [[CLIENT, 1, ...VOICES, ID]],
  'rate-limiter/ask': [
    [OWNER, '1', 1, '1', 'g', 'PUBLISH', CALL],
    [OWNER, '01', 0, '0', 'g', 'PUBLISH', CALL, grantOf(4e9 + 1, 2)],
  ],
  'rate-limiter/available': [[Number.MAX_SAFE_INTEGER]],
  'rate-limiter/leave': [[OWNER, '1', 'g', 'PUBLISH']],
  'rate-limiter/release': [
    [1, 'PUBLISH', '1', 'g'],
    [1000, 'PUBLISH', '1', 'g'],
  ],
  'rate-limiter/set-rate': [
    [...RATE, 1, 1, 'PUBLISH', '1', 'g'],
    [...RATE, 0, 1, 'PUBLISH', '1', 'g'],
    [10, 60_000, 1, 60_000, 1, 0, 'PUBLISH', '1', 'g'],
  ],
  'rate-limiter/take': [[CALL], [CALL, grantOf(4e9 + 1, 2)]],
  'rate-limiter/try-set-rate': [[...RATE, 'PUBLISH', '1', 'g']],
  'rate-limiter/undo': [['PUBLISH', '1', 'g', CALL]],
  'latch/count-down': [['PUBLISH']],
  'latch/delete': [['PUBLISH']],
  'latch/try-set-count': [[5, 'PUBLISH']],
  'election/leader': [[]],
  'election/proclaim': [[OWNER, '7', 2, 'text', 'x', 60_000, 'PUBLISH']],
  'election/withdraw': [[OWNER, 'PUBLISH']],
  'slots/claim': [
    [OWNER, 'run', 3, '1700000000000', 60_000, '5'],
    [OWNER, 'other run', 3, '1700000000000', 60_000, '5'],
  ],
  'slots/finish': [
    ['run', 'ran', 60_000, 1, '5'],
    ['run', '', 60_000, 0, ''],
  ],
  'slots/look': [[]],
  'slots/skip': [['run', '1700000000000', 60_000]],
  'core/delete-or-expire-keys': [
    ['0', 'DEL', ''],
    ['1', 'UNLINK', ''],
    ['0', 'PEXPIRE', '60000'],
    ['1', 'PERSIST', ''],
  ],
}

export interface Call {
  readonly script: Script
  readonly args: readonly Word[]
  /** What each of its keys is for. */
  readonly roles: readonly string[]
}

const ROLES: Readonly<Record<string, string>> = {
  ownValue: 'value',
  ownPermits: 'grants',
  voided: 'note',
  last: 'count',
  counter: 'count',
  latch: 'count',
}

const rolesOf = (script: Script): string[] =>
  slotsOf(script).KEYS.map(({ name }) => {
    if (script.name === 'core/delete-or-expire-keys') return 'count'
    if (name === 'permits') return script.name.startsWith('rate-limiter/') ? 'grants' : 'count'
    return ROLES[name] ?? name
  })

export const calls: readonly Call[] = scripts.flatMap((script) => {
  const roles = rolesOf(script)
  const all = (ARGUMENTS[script.name] ?? []).map((args): Call => ({ script, args, roles }))
  if (script.name !== 'core/delete-or-expire-keys') return all
  return all.map((call) =>
    call.args[0] === '1' ? { ...call, roles: ['limiter', 'value', 'value', 'grants', 'grants'] } : call,
  )
})

export const now = Date.now()
const TRIAL_MARK = 0.5 + 1 / 4096
const others = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, i) => `${String(i).padStart(8, '0')}-0a1b-8101-8001-0a1b2c3d4e5f:${String(i).padStart(10, '0')}`,
  )

/** What stands at a key while the kind is in use. */
export const NORMAL: Readonly<Record<string, Commands>> = {
  count: [['SET', 5]],
  note: [['SET', 1]],
  queue: [['RPUSH', ...others(1), OWNER]],
  deadlines: [['ZADD', now + 3e8, others(1)[0] as string, now + 3e8, OWNER]],
  amounts: [['HSET', others(1)[0] as string, -1, OWNER, -2]],
  turn: [['HSET', 'value', 2, 'came', now, 'gave', now, 'since', now, 'visits', 1, 'after', now, 'share', 1]],
  timeouts: [['ZADD', now + 3e8, Buffer.from(ID, 'hex'), 1, idOf(1)]],
  limiter: [['HSET', 'rate', 10, 'interval', 60_000, 'type', 0, 'keepAliveTime', 0]],
  value: [['SET', 5]],
  grants: [['ZADD', now + 3e7, grantOf(1, 2), now + 3e7, CALL, 1, grantOf(2, 3)]],
  order: [['ZADD', 1e15, others(1)[0] as string, 2e15, OWNER]],
  places: [['HSET', others(1)[0] as string, `1 ${now + 50_000}`, OWNER, `2 ${now + 50_000}`]],
  lock: [['HSET', OWNER, 1]],
  leader: [['HSET', 'owner', OWNER, 'term', '7', 'revision', 1, 'since', now, 'form', 'text', 'value', 'x']],
  slot: [['HSET', 'state', 'running', 'run', 'run', 'attempt', 1, 'token', 5, 'began', now, 'before', 'another']],
}

/** What is no count, or one that no client of ours would leave. */
export const TEXTS: readonly string[] = [
  '9007199254740993',
  '-9007199254740993',
  '9007199254740992',
  '-9007199254740992',
  '9007199254740991',
  '-9007199254740991',
  '9007199254740990',
  '9007197107257345',
  '9223372036854775807',
  '-9223372036854775808',
  '99999999999999999999999',
  '0',
  '-1',
  'text',
  'nan',
  '-nan',
  'inf',
  '-inf',
  '',
  '1.5',
  '1e3',
  '0x1F',
  ' 5',
  '007',
  '-0',
  '0 0 inf',
  '5 5 nan',
  '9007199254740991 9007199254740991 -inf',
  '1 9007199254740991',
]
export const SCORES: readonly string[] = [
  'inf',
  '-inf',
  '1e300',
  '-1e300',
  '1.5',
  '5e-324',
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  String(now + 3e8 + 0.5 + 1000 / 4096),
  '0',
]
/** A moment so far away that no number of JavaScript's says exactly in how many ms it is. */
const MB = 1_000_000
const FAR = '9000000000000000000'

const bytes = (text: string): Word => Buffer.from(text, 'latin1')

/** A value of this role with one strange thing in it. */
export const strange = (role: string): { title: string; commands: Commands }[] => {
  const normal = NORMAL[role]
  if (normal === undefined) return []
  const [first] = normal as [readonly [string, ...Word[]]]
  const [command, ...words] = first
  const found: { title: string; commands: Commands }[] = [
    { title: 'a far expiry', commands: [...normal, ['PEXPIREAT', FAR]] },
    ...TEXTS.map((text) => ({ title: `the text ${JSON.stringify(text)}`, commands: [['SET', text]] as Commands })),
    { title: 'a long text', commands: [['SET', '9'.repeat(1_000_000)]] },
    { title: 'a stream', commands: [['XADD', '*', 'a', 'b']] },
    { title: 'a set', commands: [['SADD', 'a']] },
    { title: 'a list', commands: [['RPUSH', '', bytes('\u0000ÿ'), OWNER]] },
    { title: 'a hash', commands: [['HSET', 'colour', 'blue']] },
    {
      title: 'odd members',
      commands: [['ZADD', 'inf', '', '-inf', bytes('\u0000ÿ'), 1, 'ab', 1e300, 'x'.repeat(200)]],
    },
  ]
  if (command === 'HSET')
    for (let i = 0; i < words.length; i += 2) {
      for (const text of TEXTS) {
        const changed = [...words]
        changed[i + 1] = text
        found.push({ title: `${String(words[i])} ${JSON.stringify(text)}`, commands: [['HSET', ...changed]] })
      }
    }
  if (command === 'ZADD')
    for (let i = 0; i < words.length; i += 2) {
      for (const score of SCORES) {
        const changed = [...words]
        changed[i] = score
        found.push({ title: `the score ${score} at ${i / 2}`, commands: [['ZADD', ...changed]] })
      }
    }
  return found
}

const inParts = (command: string, words: readonly Word[]): Commands =>
  Array.from({ length: Math.ceil(words.length / 1000) }, (_, i) => [command, ...words.slice(1000 * i, 1000 * (i + 1))])

/** Whole states of very many, by role: what another program may have written that knows the layout, or left there by an accident. */
export const large = (count: number): { title: string; state: Readonly<Record<string, Commands>> }[] => {
  const names = others(count)
  const zset = (score: (i: number) => Word, members: readonly Word[] = names): Commands =>
    inParts(
      'ZADD',
      members.flatMap((member, i) => [score(i), member]),
    )
  const hash = (value: (i: number) => Word, fields: readonly Word[] = names): Commands =>
    inParts(
      'HSET',
      fields.flatMap((field, i) => [field, value(i)]),
    )
  const queue = inParts('RPUSH', names)
  const dead = zset((i) => 1 + i + TRIAL_MARK)
  const overdue = zset((i) => 1 + i)
  const alive = zset((i) => now + 3e8 + i)
  const wanting = hash(() => -1)
  const ids = Array.from({ length: count }, (_, i) => idOf(i))
  const grants = Array.from({ length: count }, (_, i) => grantOf(i, 1))
  const many: Commands = [['SET', 4_000_000_000_000]]
  const rate: Commands = [['HSET', 'rate', 4_000_000_000, 'interval', 60_000, 'type', 0, 'keepAliveTime', 0]]
  const marked = names.map((_, i) => `1 ${now + 50_000 + (i % 1000)}`)
  const empty = hash(() => 'x')
  const heard = (i: number): string => `${HEARD}:${String(i).padStart(10, '0')}`
  const lineOf = (places: readonly string[]): Record<string, Commands> => ({
    count: many,
    queue: inParts('RPUSH', places),
    deadlines: zset((i) => now + 3e8 + i, places),
    amounts: hash(() => -1, places),
  })
  return [
    { title: 'a line of those who wait', state: { count: many, queue, deadlines: alive, amounts: wanting } },
    { title: 'a line, every second one heard', state: lineOf(names.map((name, i) => (i % 2 === 0 ? name : heard(i)))) },
    {
      title: 'a line, overdue behind those who wait',
      state: { count: many, queue, deadlines: zset((i) => (i < 512 ? now + 3e8 : 1 + i)), amounts: wanting },
    },
    { title: 'a line, all heard', state: lineOf(names.map((_, i) => heard(i))) },
    { title: 'a line, no permits', state: { count: [['SET', 0]], queue, deadlines: alive, amounts: wanting } },
    { title: 'a line, all overdue', state: { count: [['SET', 0]], queue, deadlines: overdue, amounts: wanting } },
    { title: 'a line, all dead', state: { count: many, queue, deadlines: dead, amounts: wanting } },
    { title: 'a line, all granted, all dead', state: { count: many, queue, deadlines: dead, amounts: hash(() => 1) } },
    {
      title: 'a line, thousands granted, overdue',
      state: { count: many, queue, deadlines: overdue, amounts: hash(() => 1000) },
    },
    { title: 'a line, all granted', state: { count: many, queue, deadlines: alive, amounts: hash(() => 2) } },
    { title: 'a queue alone', state: { count: many, queue } },
    { title: 'deadlines alone', state: { count: many, deadlines: alive } },
    { title: 'overdue deadlines alone', state: { count: many, deadlines: dead } },
    { title: 'amounts alone', state: { count: many, amounts: hash(() => 1000) } },
    { title: 'amounts that wait', state: { count: many, amounts: wanting, queue } },
    { title: 'amounts without a queue', state: { count: many, deadlines: alive, amounts: wanting } },
    { title: 'a queue without amounts', state: { count: many, queue, deadlines: alive } },
    {
      title: 'long names in a queue',
      state: {
        count: many,
        queue: Array.from({ length: 64 }, (): [string, ...Word[]] => ['RPUSH', 'x'.repeat(15_000)]),
      },
    },
    {
      title: 'a queue of one name',
      state: {
        count: many,
        queue: inParts(
          'RPUSH',
          names.map(() => OWNER),
        ),
        deadlines: alive,
      },
    },
    { title: 'permits taken', state: { count: many, timeouts: zset((i) => now + 3e8 + i, ids) } },
    { title: 'permits lapsed', state: { count: many, timeouts: zset((i) => 1 + i, ids) } },
    { title: 'permits for ever', state: { count: many, timeouts: zset(() => 'inf', ids) } },
    { title: 'no count, permits lapsed', state: { timeouts: zset((i) => 1 + i, ids) } },
    {
      title: 'long ids lapsed',
      state: {
        count: many,
        timeouts: Array.from({ length: 64 }, (_, i): [string, ...Word[]] => ['ZADD', 1, `${i}${'x'.repeat(15_000)}`]),
      },
    },
    {
      title: 'grants in the window',
      state: { limiter: rate, value: many, grants: zset((i) => now + 3e7 + i, grants) },
    },
    { title: 'grants in the window, no value', state: { limiter: rate, grants: zset((i) => now + 3e7 + i, grants) } },
    {
      title: 'grants that have left',
      state: { limiter: rate, value: [['SET', 5]], grants: zset((i) => 1 + i, grants) },
    },
    { title: 'grants that have left, no value', state: { limiter: rate, grants: zset((i) => 1 + i, grants) } },
    {
      title: 'grants of nothing',
      state: { limiter: rate, value: [['SET', 5]], grants: zset((i) => now + 3e7 + i, names) },
    },
    {
      title: 'grants of 0',
      state: {
        limiter: rate,
        value: [['SET', 0]],
        grants: zset(
          (i) => now + 3e7 + i,
          ids.map((id) => Buffer.concat([Buffer.from([16]), id, Buffer.alloc(4)])),
        ),
      },
    },
    {
      title: 'long grants',
      state: {
        limiter: rate,
        value: [['SET', 0]],
        grants: Array.from({ length: 64 }, (_, i): [string, ...Word[]] => [
          'ZADD',
          now + 3e7,
          `${i}${'x'.repeat(15_000)}`,
        ]),
      },
    },
    {
      title: 'long grants that have left',
      state: {
        limiter: rate,
        value: [['SET', 0]],
        grants: Array.from({ length: 64 }, (_, i): [string, ...Word[]] => ['ZADD', 1, `${i}${'x'.repeat(15_000)}`]),
      },
    },
    {
      title: 'a limiter’s line',
      state: {
        limiter: rate,
        value: [['SET', 0]],
        order: zset((i) => 1e15 + i),
        places: hash((i) => marked[i] as string),
      },
    },
    {
      title: 'a limiter’s line, all late',
      state: {
        limiter: rate,
        value: [['SET', 0]],
        order: zset((i) => 1e15 + i),
        places: hash(() => `1 ${now - 50_000}`),
      },
    },
    { title: 'an order alone', state: { limiter: rate, value: [['SET', 0]], order: zset((i) => 1e15 + i) } },
    { title: 'an order of the future', state: { limiter: rate, value: [['SET', 0]], order: zset(() => 'inf') } },
    { title: 'places alone', state: { limiter: rate, value: [['SET', 0]], places: hash((i) => marked[i] as string) } },
    {
      title: 'long names in a limiter’s line',
      state: {
        limiter: rate,
        value: [['SET', 0]],
        order: Array.from({ length: 64 }, (_, i): [string, ...Word[]] => ['ZADD', 1e15, `${i}${'x'.repeat(15_000)}`]),
      },
    },
    ...['limiter', 'lock', 'leader', 'slot', 'turn'].map((role) => ({
      title: `a large ${role}`,
      state: { [role]: [...(NORMAL[role] as Commands), ...empty] },
    })),
    ...['limiter', 'lock', 'leader', 'slot', 'turn', 'amounts', 'places'].flatMap((role) => {
      const [[command, ...words]] = NORMAL[role] as [readonly [string, ...Word[]]]
      const title = (i: number): string => `a long ${String(words[i])} in a ${role}`
      const state = (i: number): Commands => [
        [command, ...words.map((word, j) => (j === i + 1 ? '9'.repeat(MB) : word))],
      ]
      return words.flatMap((_, i) => (i % 2 === 0 ? [{ title: title(i), state: { ...NORMAL, [role]: state(i) } }] : []))
    }),
    { title: 'a list of another program', state: { '*': queue } },
    { title: 'a set of another program', state: { '*': inParts('SADD', names) } },
    { title: 'a hash of another program', state: { '*': empty } },
    { title: 'a sorted set of another program', state: { '*': alive } },
    { title: 'a long text', state: { '*': [['SET', '9'.repeat(4 * MB)]] } },
  ]
}
