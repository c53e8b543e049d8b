import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as lines from '../contract/lock/lines.js'
import { DIFFERENCES, idsOf, REASONS, SECTIONS } from './behaviours.js'

/** The repository; this runs as `.build/test/suites/conformance/catalogue.js`. */
export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
export const PAGE = join(ROOT, 'docs/conformance.md')

/** A test, as its file names it. */
export interface Named {
  readonly file: string
  readonly title: string
}

const ID = String.raw`(?:G-\d\d|SPO\d|RWE\d|(?:NF|FE|SP|SC|RL|RW)\d\d|[LHXEFNMGRSPCT]\d\d)`
const IDS = `${ID}(?:,? ${ID})*`
const NAME = new RegExp(String.raw`(['"\x60])(${IDS}): (.+?)\1`, 'g')
/** One of several tests that have one name but for its beginning, which stands before it. */
const ROW = new RegExp(String.raw`\bid: '(${IDS})(?:: ([^']+))?'`, 'g')
const NAMED_BY_ROW = /\x60\$\{id\}(?:: )?([^\x60]+)\x60/

const sources = (): { file: string; text: string }[] =>
  readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('suites/conformance'))
    .sort()
    .map((file) => ({ file: file.replaceAll(sep, '/'), text: readFileSync(join(ROOT, 'test', file), 'utf8') }))

/** What a behaviour of the plain lock is called for the kinds that go through the same test. */
const alsoCalled = (file: string, id: string): string[] =>
  file.startsWith('suites/contract/lock/')
    ? Object.values(lines).flatMap((table) => (typeof table === 'object' && table[id] !== undefined ? [table[id]] : []))
    : []

const namesIn = (text: string): { ids: string; title: string }[] => [
  ...[...text.replaceAll(ROW, '').matchAll(NAME)].map(([, , ids = '', title = '']) => ({ ids, title })),
  ...[...text.matchAll(ROW)].map(({ index, 1: ids = '', 2: title = '' }) => ({
    ids,
    title: title + (NAMED_BY_ROW.exec(text.slice(index))?.[1] ?? ''),
  })),
]

/** Which tests there are for each behaviour. */
export const catalogue = (): Map<string, Named[]> => {
  const found = new Map<string, Named[]>()
  for (const { file, text } of sources())
    for (const { ids, title } of namesIn(text))
      for (const id of ids.split(/,? /).flatMap((one) => [one, ...alsoCalled(file, one)]))
        found.set(id, [...(found.get(id) ?? []), { file, title }])
  return found
}

/** On what a file's tests run, as its text says. */
const placeOf = ({ file, text }: { file: string; text: string }): string => {
  if (file.startsWith('suites/interop/')) return 'beside Redisson'
  if (/[Cc]luster\(\)/.test(text)) return 'a cluster'
  if (text.includes('startWatched')) return 'sentinels'
  if (/\bof engines\b/.test(text) || /^suites\/contract\/[\w-]+\//.test(file)) return 'every engine'
  if (/onServer|startRedis|redisEngine|onWire|lentEngine/.test(text)) return 'a server'
  return 'this process'
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`)

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const table = (head: readonly string[], rows: readonly string[]): string[] => [
  row(...head),
  row(...head.map(() => '---')),
  ...rows,
]

const INTRODUCTION = `# Behaviours, and the tests that hold them

Redisson’s own tests say what its locks, counts and topics do. Each behaviour of theirs has a number here, and so has what users
expect beyond them. Tests name the numbers that they are for; this page is made from the tests (\`npm run conformance\`), and
\`npm test\` fails when it is not up to date, when a number has neither a test nor a reason, or when a test that is named here is gone.
“Every engine” is a Redis server, the embedded engine, and that under a virtual clock.`

/** The page. */
export const page = (): string => {
  const found = catalogue()
  const places = new Map(sources().map((source) => [source.file, placeOf(source)]))
  const rowsOf = (id: string): string[] => {
    const tests = found.get(id) ?? []
    if (tests.length === 0) return [row(id, cell(REASONS[id] ?? '**no test, no reason**'), '', '')]
    return tests.map(({ file, title }, index) =>
      row(index === 0 ? id : '', cell(title), `\`${file}\``, places.get(file) ?? ''),
    )
  }
  const all = SECTIONS.flatMap(idsOf)
  const tested = all.filter((id) => found.has(id)).length
  const lines = [
    INTRODUCTION,
    `${all.length} behaviours: ${tested} with tests, ${all.length - tested} with a reason.`,
    '## Where Redisson and we differ on purpose',
    table(
      ['Redisson', 'holdfast', 'who is right', 'pinned by'],
      DIFFERENCES.map(({ redisson, ours, right, pinned: [file, name] }) =>
        row(cell(redisson), cell(ours), cell(right), `\`${file}\`: ${cell(name)}…`),
      ),
    ).join('\n'),
    ...SECTIONS.flatMap((section) => [
      `## ${section.title}`,
      table(['id', 'what is tried', 'in', 'on'], idsOf(section).flatMap(rowsOf)).join('\n'),
    ]),
  ]
  return `${lines.join('\n\n')}\n`
}
