import type { Script } from '#src/lua/script.js'
import type { seeded } from '../support/random.js'
import { argumentsOf, COMPANION, slotsOf } from './hostile.js'
import { FIELD, ME, ours, theirs, type Word } from './imitated.js'

/** Keys of locks that another program has filled: with very many places, owners and fields that look real, or with very long texts. */

type Draw = ReturnType<typeof seeded>
/** Commands without their key, which comes second. */
export type Filling = readonly (readonly [string, ...Word[]])[]

const LONG = 'x'.repeat(1_000_000)
const DIGITS = '9'.repeat(1_000_000)
const inParts = (command: string, words: readonly Word[]): Filling =>
  Array.from({ length: Math.ceil(words.length / 1000) }, (_, i) => [command, ...words.slice(1000 * i, 1000 * (i + 1))])
const MINE = [ME, `${ME}:write`]

/** Who stands in a line. */
const lines: Readonly<Record<string, (i: number) => string>> = {
  'clients of ours': (i) => ours(i),
  'one client of ours': (i) => ours(i, 1),
  'few clients of ours': (i) => ours(i, i % 40),
  'writers of ours': (i) => `${ours(i)}:write`,
  'clients of Redisson’s': (i) => theirs(i),
  'both in turn': (i) => (i % 2 === 0 ? ours(i) : theirs(i)),
  'mine over and over': () => ME,
  'names of 1 MB': (i) => (i < 2 ? `${ours(i).slice(0, 37)}${DIGITS}${i}` : ours(i)),
}
/** When they are due. */
const dues: Readonly<Record<string, (i: number, count: number, now: number) => number | undefined>> = {
  late: (i, count, now) => now - count + i - 60_000,
  'due later': (i, _count, now) => now + 300_000 + i,
  'on trial, and late': (i, _count, now) => now - 1000 + (i % 2) * 0.5,
  'all on trial, and late': (_i, _count, now) => now - 1000.5,
  'of a fair trial that is over': (_i, _count, now) => now - 10 + ((1 + Math.floor((now - 4000) / 4)) % 4095) / 4096,
  'of a fair trial, and due later': (_i, _count, now) =>
    now + 300_000 + ((1 + Math.floor((now - 4000) / 4)) % 4095) / 4096,
  'passed over': (_i, _count, now) => now + 9_000.75,
  'due the earlier the further behind': (i, count, now) => now + 10_000_000 + count - i,
  'late every other': (i, _count, now) => (i % 2 === 0 ? now - 60_000 : now + 300_000 + i),
  'late behind five hundred': (i, _count, now) => (i < 500 ? now + 300_000 + i : now - 60_000),
  'without a deadline': () => undefined,
}
export const lineNames = Object.keys(lines)
export const dueNames = Object.keys(dues)

/** A line, its deadlines, and what each place wants. */
export const lineOf = (line: string, due: string, count: number): Readonly<Record<string, Filling>> => {
  const now = Date.now()
  const names = Array.from({ length: count }, (_, i) => lines[line]?.(i) as string)
  const places = [...names, ...MINE]
  const scored = places.flatMap((name, i) => {
    const score = dues[due]?.(i, count, now)
    return score === undefined ? [] : [score, name]
  })
  return { queue: inParts('RPUSH', places), deadlines: inParts('ZADD', scored) }
}

/** What is wanted there. */
export const setsOf = (line: string, set: string, count: number): Filling =>
  inParts('HSET', Array.from({ length: count }, (_, i) => [lines[line]?.(i) as string, set]).flat())
export const SETS: Readonly<Record<string, string>> = {
  'one field': FIELD,
  'short fields': 'a b c d '.repeat(4000),
  'a long text': 'y'.repeat(30_000),
}

/** What stands at the lock itself. */
export const holdings = (count: number, line: string): Readonly<Record<string, Filling>> => {
  const names = Array.from({ length: count }, (_, i) => lines[line]?.(i) as string)
  const all = (value: Word, mode: 'read' | 'write'): Filling => [
    ...inParts(
      'HSET',
      names.flatMap((name) => [name, value]),
    ),
    ['HSET', 'mode', mode, ...(mode === 'write' ? [`${ME}:write`, 1] : [ME, 1])],
  ]
  const at = `${FIELD}:${ME}`
  return {
    nothing: [],
    'a hold of mine': [['HSET', ME, 1]],
    'a hold of another': [['HSET', ours(5), 1]],
    'a read of mine': [['HSET', 'mode', 'read', ME, 1]],
    'a write of mine': [['HSET', 'mode', 'write', `${ME}:write`, 1]],
    'all of them reading': all(1, 'read'),
    'all of them reading thousands of times': all(9999, 'read'),
    'all of them under a write': all(1, 'write'),
    'a hold of mine with very many fields': [
      ['HSET', ME, 1],
      ...inParts(
        'HSET',
        names.flatMap((name) => [name, 1]),
      ),
    ],
    'very many holds of keys': [
      ['HSET', FIELD, ME, `${at}:expire_time`, Date.now() + 60_000, `${at}:lock_count`, 1],
      ...inParts(
        'HSET',
        names.flatMap((name, i) => [String(i).padStart(22, 'f'), name]),
      ),
    ],
    'a hold of mine, 1 MB of digits often': [['HSET', ME, DIGITS]],
    'a hold of a name of 1 MB': [['HSET', LONG, 1]],
    'a mode of 1 MB': [['HSET', 'mode', LONG, ME, 1]],
    'a read of mine, 1 MB of digits often': [['HSET', 'mode', 'read', ME, DIGITS]],
    'a key of a name of 1 MB': [['HSET', FIELD, LONG, `${FIELD}:${LONG}:expire_time`, DIGITS]],
    'a key of mine until 1 MB of digits': [
      ['HSET', FIELD, ME, `${at}:expire_time`, DIGITS, `${at}:lock_count`, DIGITS],
    ],
    'a long line': inParts('RPUSH', names),
    'a long set': inParts('SADD', names),
    'many scores': inParts(
      'ZADD',
      names.flatMap((name, i) => [i, name]),
    ),
    'a text of 1 MB': [['SET', DIGITS]],
  }
}

const turnOf = (value: Word): Filling => [
  [
    'HSET',
    'till',
    value,
    ...['since', 'came', 'after', 'visits', 'share'].flatMap((name) => [name, String(value).slice(0, 1000)]),
  ],
]
export const turns = (count: number): Readonly<Record<string, Filling>> => ({
  nothing: [],
  'theirs now': [['HSET', 'till', Date.now() + 2500, 'since', Date.now() - 1000]],
  'texts of 1 MB': turnOf(DIGITS),
  'very many fields': [
    ...inParts('HSET', Array.from({ length: count }, (_, i) => [`field ${i}`, i]).flat()),
    ...turnOf(1),
  ],
  'a long line': inParts(
    'RPUSH',
    Array.from({ length: count }, (_, i) => i),
  ),
})

/** Its arguments; where one gives several owners, those of the line as well. */
export const argumentsAmong = (script: Script, draw: Draw, line: string, count: number): Word[] => {
  const args = argumentsOf(script, draw).map((word) => (typeof word === 'object' ? '' : word))
  const last = slotsOf(script).ARGV.at(-1)
  if (last?.rest !== true || !/owners|asked/.test(last.name) || script.name.includes('renew') || draw() < 0.5)
    return args
  const some = Array.from({ length: 20 }, (_, i) => lines[line]?.(count - 1 - i) as string)
  return [...args, ...some.flatMap((name) => (last.name === 'asked' ? [name, 30_000, 5000] : [name, 30_000]))]
}

/** The keys that hold how long a read of mine goes on. */
export const levelKeys = [`${COMPANION}:${ME}:rwlock_timeout:1`]
