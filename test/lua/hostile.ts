import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Script } from '#src/lua/script.js'
import { parseHeader } from '../../scripts/lua/header.mjs'
import type { seeded } from '../support/random.js'

type Draw = ReturnType<typeof seeded>
export type Word = string | number | Buffer
export interface Slot {
  readonly name: string
  readonly rest: boolean
  readonly type: string
}

export const CLIENT = '0a1b2c3d-0a1b-8101-8001-0a1b2c3d4e5f'
const REDISSONS = '9f1b2c3d-0a1b-4001-8001-0a1b2c3d4e5f'
/** As many as a content of the large sort has. */
export const MANY = 100_000
export const COMPANION = '{k}'

export const slotsOf = ({ name }: Script): { readonly KEYS: readonly Slot[]; readonly ARGV: readonly Slot[] } => {
  const file = name.startsWith('core/') ? `src/${name}.lua` : `src/sync/${name}.lua`
  return parseHeader(readFileSync(join(process.cwd(), file), 'utf8'))
}

/** The last four bytes say how many permits a call wants. */
const call = (): Buffer => Buffer.concat([Buffer.from(CLIENT), Buffer.from([1, 0, 0, 0])])
const FIELD = 'abcdefghijklmnopqrstuv'

/** What a caller might give for an argument, by its name; by its unit where the name says nothing. */
const WORDS: Readonly<Record<string, readonly Word[]>> = {
  owner: [`${CLIENT}:7`],
  from: [`${CLIENT}:7`, '0'],
  to: [`${CLIENT}:8`],
  writer: [`${CLIENT}:7:write`, ''],
  client: [CLIENT],
  mode: ['read', 'write'],
  companion: [COMPANION],
  counted: ['1', '0'],
  joins: ['1', '0'],
  publish: ['PUBLISH'],
  limits: ['1', '0'],
  command: ['DEL', 'PERSIST'],
  change: [''],
  known: ['5'],
  term: ['7'],
  due: ['1700000000000', ''],
  state: ['ran', ''],
  mark: [`read:${CLIENT}:7`, ''],
  notAfter: [Number.MAX_SAFE_INTEGER, 0],
  fields: [FIELD],
  set: [FIELD],
  served: [`${CLIENT}:9`],
  holds: [`${CLIENT}:7 ${FIELD}`],
  id: ['00112233445566778899aabbccddeeff'],
  ids: ['00112233445566778899aabbccddeeff'],
}
const UNITS: Readonly<Record<string, readonly Word[]>> = { number: [30_000, 2, 0], Uint8Array: [call()], Arg: [2] }

const argumentFor = (script: Script, { name, rest, type }: Slot, draw: Draw): readonly Word[] => {
  const pick = (words: readonly Word[]): Word => words[Math.floor(draw() * words.length)] as Word
  // A key that ends at once is deleted, with all that another program wrote there; only renewals ask for nothing.
  if (name === 'lease' && !script.name.includes('renew')) return [pick([30_000, 2])]
  if (!rest) return [pick(WORDS[name] ?? UNITS[type] ?? [`${CLIENT}:7`])]
  if (name === 'asked') return [`${CLIENT}:7`, 30_000, 5000]
  if ((name === 'owners' || name === 'asker') && !script.name.includes('renew')) return [`${CLIENT}:7`, 30_000]
  // A lease, how many, and as many ids.
  if (name === 'calls' && type === 'Arg') return [30_000, 1, '00112233445566778899aabbccddeeff']
  return [pick(WORDS[name] ?? UNITS[type] ?? [`${CLIENT}:7`])]
}

export const argumentsOf = (script: Script, draw: Draw): Word[] =>
  slotsOf(script).ARGV.flatMap((slot) => [...argumentFor(script, slot, draw)])

const NUMBERS = ['9007199254740993', '1e308', '-1', 'nan', 'inf', '-inf', '1e9', '0x7fffffff', '', '4000000', '99999']
const BINARY = Buffer.from([0, 255, 254, 10, 13, 0])

export interface Content {
  readonly title: string
  /** Commands without their key, which comes second. */
  readonly commands: readonly (readonly [string, ...Word[]])[]
}

const owners = (count: number, value: (i: number) => Word, mark = ''): Word[] =>
  Array.from({ length: count }, (_, i) => [`${i % 2 === 0 ? CLIENT : REDISSONS}:${i}${mark}`, value(i)]).flat()

/** What may stand at a key: each type, odd numbers, and what the other kinds have there. */
export const contents: readonly Content[] = [
  ...NUMBERS.map((text): Content => ({ title: `the text ${JSON.stringify(text)}`, commands: [['SET', text]] })),
  { title: 'binary text', commands: [['SET', BINARY]] },
  ...NUMBERS.flatMap((text): Content[] => [
    { title: `a reader who reads ${text} times`, commands: [['HSET', 'mode', 'read', `${CLIENT}:7`, text]] },
    {
      title: `a writer who reads ${text} times`,
      commands: [['HSET', 'mode', 'write', `${CLIENT}:7:write`, 1, `${CLIENT}:7`, text]],
    },
    { title: `a holder of ${text}`, commands: [['HSET', `${CLIENT}:7`, text]] },
    {
      title: `a key of a group for ${text}`,
      commands: [
        [
          'HSET',
          FIELD,
          `${CLIENT}:7`,
          `${FIELD}:${CLIENT}:7:expire_time`,
          text,
          `${FIELD}:${CLIENT}:7:lock_count`,
          text,
        ],
      ],
    },
    {
      title: `a rate of ${text}`,
      commands: [['HSET', 'rate', text, 'interval', text, 'type', 0, 'keepAliveTime', text]],
    },
    {
      title: `a line whose deadline is ${text}`,
      commands: [['ZADD', /^-?[\d.e]+$|inf/.test(text) ? text : 1, `${CLIENT}:7`]],
    },
  ]),
  { title: 'a list of owners', commands: [['RPUSH', `${CLIENT}:7`, `${REDISSONS}:1`, '', BINARY]] },
  { title: 'a set', commands: [['SADD', `${CLIENT}:7`, 'mode']] },
  {
    title: 'a sorted set of odd members',
    commands: [['ZADD', 'inf', 'x', '-inf', '', 1e308, BINARY, 1, `${CLIENT}:7`]],
  },
  { title: 'a stream', commands: [['XADD', '*', 'mode', 'read']] },
  { title: 'a hash of another program', commands: [['HSET', 'colour', 'blue', 'mode', 'dark']] },
]

const inParts = (command: string, words: readonly Word[]): Content['commands'] =>
  Array.from({ length: Math.ceil(words.length / 1000) }, (_, i) => [command, ...words.slice(1000 * i, 1000 * (i + 1))])
const names = Array.from({ length: MANY }, (_, i) => `${i % 2 === 0 ? CLIENT : REDISSONS}:${i}`)

export const large: readonly Content[] = [
  {
    title: 'very many readers',
    commands: [
      ...inParts(
        'HSET',
        owners(MANY, () => 1),
      ),
      ['HSET', 'mode', 'read'],
    ],
  },
  {
    title: 'very many readers, each thousands of times',
    commands: [
      ...inParts(
        'HSET',
        owners(MANY, () => 9999),
      ),
      ['HSET', 'mode', 'read'],
    ],
  },
  {
    title: 'very many readers under a write',
    commands: [
      ...inParts(
        'HSET',
        owners(MANY, () => 4e6),
      ),
      ['HSET', 'mode', 'write', `${CLIENT}:7:write`, 1],
    ],
  },
  {
    title: 'a large hash of another program',
    commands: inParts(
      'HSET',
      names.flatMap((name) => [`field ${name}`, 'x']),
    ),
  },
  { title: 'a very long line', commands: inParts('RPUSH', names) },
  { title: 'a very large set', commands: inParts('SADD', names) },
  {
    title: 'very many who are late',
    commands: inParts(
      'ZADD',
      names.flatMap((name, i) => [i + 0.5, name]),
    ),
  },
  {
    title: 'very many due later',
    commands: inParts(
      'ZADD',
      names.flatMap((name, i) => [4e12 + i, name]),
    ),
  },
  { title: 'a long text', commands: [['SET', '9'.repeat(1_000_000)]] },
]
