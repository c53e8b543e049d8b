import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import type { seeded } from '../support/random.js'
import { argumentsOf, CLIENT, COMPANION, slotsOf } from './hostile.js'

/** What another program may have written at the keys of locks that looks as if a lock had written it. */

type Draw = ReturnType<typeof seeded>
export type Word = string | number
export type Command = readonly [string, ...Word[]]
const KINDS =
  /^(?:lock|fenced-lock|spin-lock|fair-lock|classic-fair-lock|read-write-lock|keyed-lock|non-reentrant-lock)\//
export const lockScripts = (Object.values(generated) as readonly Script[]).filter(({ name }) => KINDS.test(name))

/** What stands for the last of its keys, where their number varies. */
const REST: Readonly<Record<string, readonly string[]>> = {
  counter: ['counter'],
  locks: ['lock'],
  groups: ['group'],
  'keyed-lock/acquire': ['queue', 'turn', 'sets'],
  'keyed-lock/release': ['queue', 'turn', 'sets', 'deadlines'],
  'read-write-lock/read-renew': ['lock', 'levels'],
}
/** What each of its keys is for. */
export const partsOf = (script: Script): readonly string[] =>
  slotsOf(script).KEYS.flatMap(({ name, rest }) => (rest ? (REST[script.name] ?? REST[name] ?? [name]) : [name]))

export const ME = `${CLIENT}:7`
/** As clients of ours name their owners: nine digits of a secret, and a number. */
export const ours = (i: number, client = i): string =>
  `${String(client % 1e8).padStart(8, '0')}-0a1b-8101-8001-0a1b2c3d4e5f:123456789${i}`
export const theirs = (i: number): string => `${String(i % 1e8).padStart(8, '0')}-0a1b-4001-8001-0a1b2c3d4e5f:${i}`
export const FIELD = 'abcdefghijklmnopqrstuv'

const STRANGE = ['9007199254740993', '9223372036854775807', '9999999999999999999', '1e308', '-1', 'nan', 'inf', '-inf']
const NUMBERS = [...STRANGE, '1.5', '', '0x1f', 'text', '00', '5', '1', String(Number.MAX_SAFE_INTEGER)]
const SCORES = ['inf', '-inf', '1e308', '-1e308', '9007199254740993', '0.5', '4e12', '4e12']
/** As far away as the server lets a key expire. */
export const FAR = '9223372036854775807'

/** Draws what each key holds. */
export const imitation = (script: Script, draw: Draw): { fill: Command[]; keys: string[]; args: Word[] } => {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T
  const number = (): string => pick(NUMBERS)
  const mark = script.name.startsWith('read-write-lock/') ? pick(['', ':write']) : ''
  const owners = [`${ME}${mark}`, `${CLIENT}:8`, ours(1), `${ours(2)}:write`, theirs(3)]
  const now = Date.now()
  const fills: Readonly<Record<string, (key: string) => readonly Command[]>> = {
    lock: (key) => [
      ...(script.name.startsWith('read-write-lock/')
        ? [['HSET', key, 'mode', pick(['read', 'write'])] as Command]
        : []),
      ['HSET', key, pick(owners), pick(['1', '1', number()])],
    ],
    group: (key) => {
      const [owner, ends] = [pick(owners), pick([String(now + 20_000), number()])]
      const at = `${FIELD}:${owner}`
      return [['HSET', key, FIELD, owner, `${at}:expire_time`, ends, `${at}:lock_count`, number()]]
    },
    queue: (key) => [['RPUSH', key, ...owners.filter(() => draw() < 0.7), theirs(4)]],
    deadlines: (key) => owners.map((owner): Command => ['ZADD', key, pick([...SCORES, String(now + 9000.5)]), owner]),
    turn: (key) => [
      ['HSET', key, ...['till', 'since', 'came', 'after', 'visits', 'share'].flatMap((one) => [one, number()])],
    ],
    sets: (key) =>
      owners.map((owner): Command => ['HSET', key, owner, pick([FIELD, `${FIELD} ${FIELD}`, '', number()])]),
    counter: (key) => [['SET', key, number()]],
    levels: (key) => [['SET', `${key}:1`, 1]],
    given: (key) => [['SET', `${key}:1`, 1]],
    taken: (key) => [['SET', `${key}:1`, 1]],
  }
  const keys = partsOf(script).map((_, i) => (i === 0 ? 'k' : `k${i}`))
  const fill = partsOf(script).flatMap((part, i) => (draw() < 0.75 ? (fills[part]?.(keys[i] as string) ?? []) : []))
  const level = `${COMPANION}:${ME}:rwlock_timeout:1`
  if (draw() < 0.7) fill.push(['SET', level, 1])
  const filled = [...new Set(fill.map(([, key]) => String(key)))]
  const far = filled.filter(() => draw() < 0.6)
  fill.push(...far.map((key): Command => ['PEXPIREAT', key, pick([FAR, '9000000000000000000', now + 30_000])]))
  return { fill, keys, args: argumentsOf(script, draw).map((word) => (typeof word === 'object' ? '' : word)) }
}
