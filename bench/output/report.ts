import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import prettier from 'prettier'
import { participants } from '../participants.js'
import type { Participant } from '../participants/participant.js'
import { picturesOf } from './pictures.js'
import { scenarios } from '../scenarios.js'
import { type Headline, SUMMARY_HEADS, summaryOf } from '../measure/headline.js'
import { readJson, root } from '../base/paths.js'
import { type Column, type KeptResult, type KeptRow, type Result, format } from '../base/result.js'
import { asLines, asMarkdown } from './table.js'

/** Of a quick run nothing is kept. */
const RESULTS = 'bench/results'
const QUICK_RESULTS = 'bench/results/tmp'
const PAGE = 'docs/benchmarks.md'
const QUICK_PAGE = `${QUICK_RESULTS}/benchmarks.md`

/** The columns of words in the summary. */
const WORDS = [0, 3, 5, 6]
const SHORT =
  'One figure of each scenario; *times as good* is above 1 where holdfast is better than the best of its peers. Of several ' +
  'targets the first that was missed is shown.'

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

const rounded = (_key: string, value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toPrecision(6)) : value

/** With so many runs a reader sees how steady a figure is. */
const EARLIER = 2

export const keep = async (result: Result): Promise<void> => {
  const file = `${result.conditions.quick ? QUICK_RESULTS : RESULTS}/${result.id}.json`
  const last = readJson(file) as KeptResult | undefined
  const measured = last?.targets.map((target) => target.measured) ?? []
  const earlier = last ? [{ date: last.conditions.date, measured }, ...(last.earlier ?? [])].slice(0, EARLIER) : []
  const rows: KeptRow[] = result.rows.map(({ rounds: _, ...row }) => row)
  const kept: KeptResult = { ...result, rows, earlier }
  write(file, await prettier.format(JSON.stringify(kept, rounded), { parser: 'json', printWidth: 160 }))
}

const cellsOf = (columns: readonly Column[], row: KeptRow): string[] =>
  columns.map(({ key, digits }) => (Number.isFinite(row.cells[key]) ? format(row.cells[key]!, digits) : '–'))

const gridOf = ({ columns, rows }: KeptResult): string[][] => {
  const noted = rows.some(({ note }) => note !== undefined)
  const more = (text: string): string[] => (noted ? [text] : [])
  return [
    ['', ...columns.map(({ title }) => title), ...more('')],
    ...rows.map((row) => [row.participant, ...cellsOf(columns, row), ...more(row.note ?? '')]),
  ]
}

/** A look is too short to say of a target that it is missed. */
const mark = (reached: boolean, quick: boolean): string => (reached ? 'reached' : quick ? 'not in this look' : 'MISSED')

export const asText = (result: KeptResult): string => {
  const lines = asLines(gridOf(result), [0, result.columns.length + 1])
  const targets = result.targets.map(
    ({ text, measured, reached }) => `  ${mark(reached, result.conditions.quick).padEnd(7)}  ${text}: ${measured}`,
  )
  return ['', result.title, ...lines, ...targets].join('\n')
}

const headlineOf = (id: string): Headline | undefined => scenarios.find((scenario) => scenario.id === id)?.headline

const summary = (results: readonly KeptResult[]): string[][] => [
  SUMMARY_HEADS,
  ...results.map((result) => summaryOf(result, headlineOf(result.id))),
]

/** One line for each scenario. */
export const summaryText = (results: readonly KeptResult[]): string => asLines(summary(results), WORDS).join('\n')

const targetTable = (results: readonly KeptResult[]): string[][] => [
  ['', 'target', 'measured', '', 'the run before', 'and before that'],
  ...results.flatMap(({ id, targets, conditions, earlier = [] }) =>
    targets.map(({ text, measured, reached }, place) => [
      id.toUpperCase(),
      text,
      measured,
      mark(reached, conditions.quick),
      ...Array.from({ length: EARLIER }, (_, run) => earlier[run]?.measured[place] ?? '–'),
    ]),
  ),
]

/** Writes them beside the page. */
const pictured = (result: KeptResult, folder: string): string[] =>
  picturesOf(result, headlineOf(result.id)).map(([name, svg]) => {
    write(`${folder}/${name}.svg`, svg)
    return `![${name}](benchmarks/${name}.svg)`
  })

const asSection = (result: KeptResult, folder: string): string => {
  const { about, conditions, targets, id, columns } = result
  const disturbed = conditions.load > 0.5 ? ` The machine was not idle (load ${format(conditions.load, 1)}).` : ''
  const rounds = conditions.rounds === 1 ? 'One round' : `Medians of ${conditions.rounds} rounds`
  return [
    `## ${result.title}`,
    about.measures,
    ...pictured(result, folder),
    asMarkdown(gridOf(result), [0, columns.length + 1]),
    targets
      .map(({ text, measured, reached }) => `- ${text}: **${measured}**, ${mark(reached, conditions.quick)}`)
      .join('\n'),
    `In what the participants differ: ${about.differs}`,
    `How it could mislead: ${about.misleads}`,
    `Source: [bench/scenarios/${id}.ts](../bench/scenarios/${id}.ts). ${rounds}, ` +
      `${conditions.date}; figures: [${id}.json](../bench/results/${id}.json).${disturbed}`,
  ].join('\n\n')
}

const machineOf = ({ node, server, platform, cpu, cores }: KeptResult['conditions']): string =>
  [`${cores} cores (${cpu}), ${platform}`, `Node ${node}`, server ?? 'no server'].join('; ')

const introduced = ({ name, file, setup, version, missing }: Participant): string =>
  `- [${name}](../${file}), ${version() ?? missing ?? 'not installed'}: ${setup}`

const page = (results: readonly KeptResult[], pictures: string): string => {
  const machines = [...new Set(results.map(({ conditions }) => machineOf(conditions)))]
  return `${[
    '# Benchmarks',
    'Generated by `npm run bench`; do not edit.',
    'All participants of a table are measured in one run against one server on the same machine, in turns, so the figures ' +
      'of one table can be compared with each other, and those of two runs cannot. Every participant works in processes ' +
      'of its own, which rest while others have their turn; those of Node are told to keep their compiled code meanwhile. While it measures, the harness checks that nobody is inside a lock together with another; who fails is ' +
      'marked VIOLATED. *Requests* are what clients send; *commands* are what the server counts, the calls inside scripts ' +
      'too; *client* and *server* are the CPU of all client processes and of the server: each of these for one pair, acquisition or hand-off. *± %* is half the distance from the worst round to the best.',
    `Measured on: ${machines.join(' — ')}.`,
    '## How to repeat it',
    '```sh\nnpm run bench                  # everything, about two and a half hours\nnpm run bench -- --quick       # a look in a quarter of an hour or so: less exact, one peer for each way to work, nothing is kept\nnpm run bench -- u1 c          # some of it\nnpm run bench -- p --only lock # of G2, K, N, P, XK or Z the rows whose name begins so; nothing is kept\nnpm run bench -- --rounds 7\n```',
    `It needs \`redis-server\` on the PATH, and installs the peers into \`bench/peers\`; Redisson with Maven, where there is a JDK from 17 on. Let the machine rest.`,
    '## Who takes part',
    participants.map(introduced).join('\n'),
    '## In short',
    SHORT,
    asMarkdown(summary(results), WORDS),
    '## Targets',
    asMarkdown(targetTable(results), [0, 1, 2, 3, 4, 5]),
    ...results.map((result) => asSection(result, pictures)),
  ].join('\n\n')}\n`
}

/** From all results that are kept, of this run and of earlier ones. */
export const writePage = (quick: boolean): string => {
  const folder = quick ? QUICK_RESULTS : RESULTS
  const results = scenarios.map(({ id }) => readJson(`${folder}/${id}.json`) as KeptResult | undefined)
  const path = quick ? QUICK_PAGE : PAGE
  write(
    path,
    page(
      results.filter((result) => result !== undefined),
      path.replace(/\.md$/, ''),
    ),
  )
  return path
}
