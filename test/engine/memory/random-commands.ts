import type { Random } from '#src/testing/random.js'

/** A byte string: one char per byte. */
export type Argv = string[]

export interface Settings {
  /** Long values make the real server give up its compact forms, and with them the order of fields. */
  readonly long: boolean
  /** ms since the epoch: where absolute times are counted from. */
  readonly now: number
}

const PREFIXES = ['s', 'h', 'l', 't', 'z'] as const
const VALUES = ['', 'a', 'b', 'abc', '0', '1', '-7', '10', '3.5', 'foo bar', '\xff\x00\r\n', '\xc3\xa9', 'x'.repeat(20)]
const FIELDS = ['f', 'g', '1', '', '\x80', 'long field']
const MEMBERS = ['a', 'b', 'c', 'aa', 'ab', '1', '2', '-3', '10', '', '\xff', '9223372036854775807', '01']
const WEIRD = [
  ...['', 'abc', '-0', '-1', '0', '9223372036854775807', '-9223372036854775807', '-9223372036854775808'],
  ...[
    '9223372036854775808',
    '18446744073709551616',
    '1e400',
    '1e-400',
    'nan',
    '-inf',
    'infinity',
    '\xff\x00',
    ' 1',
    '1 ',
  ],
  ...[
    '+1',
    '01',
    '1.5',
    '0x10',
    'NX',
    'xx',
    '(1',
    '[a',
    '+',
    '-',
    '*',
    'COUNT',
    'LIMIT',
    'WITHSCORES',
    '1\x002',
    '1e3',
  ],
]
const GLOBS = [
  '*',
  's*',
  '?1',
  '[a-f]*',
  '[^a]*',
  '*1',
  '\\*',
  'a',
  '',
  '[',
  '*[',
  'a\\',
  '**a*',
  '[b-a]',
  '[]',
  '[\\a]?',
]
const DOUBLES = [
  ...['0', '1', '2', '-1', '0.1', '3.3', '1.5', '-0', '1e3', '1e17', '-1e17', '12345678901234567890', 'inf', '-inf'],
  ...['+inf', '1e300', '1e-5', '0x1p-3', '.5', '5.', '0.30000000000000004', '4e-310', '123456789.123456789'],
]
const FLOATS = ['0', '1', '-1', '0.5', '-2.25', '10.125', '3', '100', '1e3', '5.0e1', '0.1', '200.75', '-0.1', '3.14']
const ODD_FLOATS = [
  'inf',
  '-inf',
  'nan',
  '0x1p-3',
  '-0x.8',
  '1e17',
  '-0',
  '4e-310',
  '1e-5000',
  '1e5000',
  '.5',
  '5.',
  '1e',
]
const INCREMENTS = [
  '1',
  '-1',
  '0',
  '5',
  '100',
  '-300',
  '9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
]

type Operand = (random: Random, settings: Settings) => string

const pick =
  (from: readonly string[]): Operand =>
  (random) =>
    random.pick(from)

const keyOf =
  (prefix: string): Operand =>
  (random) =>
    (random.chance(0.95) ? prefix : random.pick(PREFIXES)) + random.pick(['1', '1', '2', '3'])

const integer = (random: Random): string => String(random.below(9) - 4)
/** Far apart from each other, so that GT and LT do not depend on the millisecond. */
const seconds = (random: Random): number => (random.chance(0.2) ? 0 - random.below(2) : 100 + random.below(100_000))
const milliseconds = (random: Random): number =>
  random.chance(0.2) ? 0 - random.below(2) : 100_000 + random.below(1e8)
const sometimes = (probability: number, rare: Operand, often: Operand): Operand => {
  return (random, settings) => (random.chance(probability) ? rare : often)(random, settings)
}
const long: Operand = (random) => random.pick(['y', 'z']).repeat(65 + random.below(3))

const operands: Readonly<Record<string, Operand>> = {
  k: (random) => random.pick(PREFIXES) + random.pick(['1', '2', '3']),
  ...Object.fromEntries(PREFIXES.map((prefix) => [prefix, keyOf(prefix)])),
  v: (random, settings) => (settings.long && random.chance(0.1) ? long : pick(VALUES))(random, settings),
  f: (random, settings) => (settings.long && random.chance(0.05) ? long : pick(FIELDS))(random, settings),
  m: (random, settings) => (settings.long && random.chance(0.05) ? long : pick(MEMBERS))(random, settings),
  g: pick(GLOBS),
  d: pick(DOUBLES),
  F: sometimes(0.05, pick(ODD_FLOATS), pick(FLOATS)),
  N: pick(INCREMENTS),
  i: integer,
  c: sometimes(0.1, integer, (random) => String(random.below(5))),
  o: sometimes(0.05, integer, (random) => String(random.below(40))),
  b: (random) => random.pick(['', '(']) + random.pick([...DOUBLES, '-inf', '+inf', '-inf', '+inf', ' 1', '']),
  x: (random) => random.pick(['-', '+', '[', '(', '[', '(']) + (random.chance(0.6) ? random.pick(MEMBERS) : ''),
  p: (random) => String(seconds(random)),
  P: (random) => String(milliseconds(random)),
  T: (random, { now }) => String(Math.floor(now / 1000) + seconds(random)),
  U: (random, { now }) => String(now + milliseconds(random)),
}

/** Cuts a template at its top level. */
const split = (text: string, separator: string): string[] => {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i)
    if ('({'.includes(char)) depth++
    if (')}'.includes(char)) depth--
    if (char !== separator || depth > 0) continue
    parts.push(text.slice(start, i))
    start = i + 1
  }
  return [...parts, text.slice(start)]
}

const times = (mark: string, random: Random): number => {
  if (mark === '?') return random.chance(0.4) ? 1 : 0
  return mark === '+' ? 1 + (random.chance(0.5) ? random.below(3) : 0) : 1
}

const expand = (template: string, random: Random, settings: Settings): Argv => {
  const argv: Argv = []
  for (const item of split(template, ' ')) {
    const mark = item.length > 1 && '?+'.includes(item.slice(-1)) ? item.slice(-1) : ''
    const atom = mark === '' ? item : item.slice(0, -1)
    for (let i = times(mark, random); i > 0; i--) {
      const inner = atom.slice(1, -1)
      if (atom.startsWith('(')) argv.push(...expand(inner, random, settings))
      else if (atom.startsWith('{')) argv.push(...expand(random.pick(split(inner, '|')), random, settings))
      else if (atom !== '') argv.push(operands[atom]?.(random, settings) ?? atom)
    }
  }
  return argv
}

/** Where a huge count would make a real server answer for ever. */
const choosesAtRandom = /^(?:srandmember|zrandmember|hrandfield)$/i
const isHugeNegative = (text: string): boolean => /^-\d{5}/.test(text)

/** Where a scan goes on from a cursor of nobody's is anyone's guess. */
const scans = /scan$/i
const isCursor = (text: string | undefined): boolean => /^[+-]?0*[1-9]/.test(text ?? '')

/**
 * What is popped at random is gone on one side only, the lowest of ranks overflows in Redis 7.0, and a float of
 * hundreds of digits is a long value.
 */
const unsettled = (argv: Argv): boolean =>
  (/^hincrbyfloat$/i.test(argv[0] ?? '') && argv.includes('1e400')) ||
  (/^spop$/i.test(argv[0] ?? '') && argv.length === 2) ||
  (/^lpos$/i.test(argv[0] ?? '') && argv.includes('-9223372036854775808'))

const spoil = (argv: Argv, random: Random): Argv => {
  const at = 1 + random.below(Math.max(argv.length - 1, 1))
  const way = random.below(4)
  if (way === 0) return argv.slice(0, -1)
  if (way === 1) return [...argv, random.pick(WEIRD)]
  if (way === 2) return [...argv.slice(0, at), random.pick(WEIRD), ...argv.slice(at)]
  return argv.map((word, i) => (i === at ? random.pick(WEIRD) : word))
}

/** Upper or mixed case: ioredis would turn the arguments and replies of lower-case names into objects. */
const recase = (argv: Argv, random: Random): Argv => {
  const [name = '', ...rest] = argv
  if (!random.chance(0.1)) return argv
  const mixed = rest.map((word) => (/^[A-Z]{3,}$/.test(word) ? word.toLowerCase() : word))
  return [name.slice(0, 1) + name.slice(1).toLowerCase(), ...mixed]
}

export const randomCommand = (templates: readonly string[], random: Random, settings: Settings): Argv => {
  const plain = expand(random.pick(templates), random, settings)
  const argv = random.chance(0.05) ? spoil(plain, random) : plain
  if (choosesAtRandom.test(argv[0] ?? '') && argv.some(isHugeNegative)) return plain
  if (unsettled(argv)) return plain
  if (scans.test(argv[0] ?? '') && argv.slice(1, 3).some(isCursor)) return plain
  return recase(argv.length === 0 ? plain : argv, random)
}
