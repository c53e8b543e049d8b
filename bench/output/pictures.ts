import { FAIR_SHARE } from '../measure/beside-redisson.js'
import { type Bar, type Line, type Look, bars, lines, shares } from './chart.js'
import { WAIT_QUANTILES } from '../measure/digest.js'
import { type Headline, competitors } from '../measure/headline.js'
import { type KeptResult, type KeptRow, format } from '../base/result.js'

const lookOf = ({ family }: KeptRow): Look =>
  family === 'holdfast' ? 'ours' : family === 'raw' || family === 'floor' ? 'floor' : 'peer'

const nameOf = ({ participant, note }: KeptRow): string =>
  note === 'VIOLATED' ? `${participant} (VIOLATED)` : participant

/** Who can do it, by the figure that counts. */
const headlinePicture = (result: KeptResult, headline: Headline): string => {
  const { key, digits, what, less, of = '' } = headline
  const all = competitors(result.rows, headline)
    .sort((one, other) => (less ? 1 : -1) * (one.cells[key]! - other.cells[key]!))
    .map((row): Bar => ({
      ...{ label: nameOf(row), value: row.cells[key]!, look: lookOf(row) },
      shown: format(row.cells[key]!, digits),
    }))
  return bars(result.title, `${of}${what}; ${less ? 'less' : 'more'} is better`, all)
}

/** Of each library the setting that is fastest. */
const families = (rows: readonly KeptRow[]): KeptRow[] => {
  const best = new Map<string, KeptRow>()
  for (const row of rows) {
    const known = best.get(row.family)
    if (known === undefined || row.cells['rate']! > known.cells['rate']!) best.set(row.family, row)
  }
  return [...best.values()]
}

const waitPicture = (result: KeptResult): string => {
  const all = families(result.rows.filter(({ cells }) => cells['p999'] !== undefined)).map((row): Line => ({
    ...{ label: nameOf(row), look: lookOf(row) },
    values: WAIT_QUANTILES.map(([key]) => row.cells[key]),
  }))
  const places = WAIT_QUANTILES.map(([, part]) => (part === 1 ? 'max' : `${100 * part} %`))
  return lines(`${result.title}: how long one waits`, 'ms; this part of the acquisitions waits no longer', places, all)
}

/** Points of a row are named "what number: participant". */
const growthPictures = (result: KeptResult): [string, string][] => {
  const points = result.rows.flatMap((row) => {
    const [, what, at, name] = /^(\w+) ([\d,]+): (.*)$/.exec(row.participant) ?? []
    return what === undefined || row.cells['cpu'] === undefined ? [] : [{ what, at: at!, name: name!, row }]
  })
  return [...new Set(points.map(({ what }) => what))].map((what) => {
    const mine = points.filter((point) => point.what === what)
    const places = [...new Set(mine.map(({ at }) => at))]
    const all = [...new Set(mine.map(({ name }) => name))].map((name): Line => ({
      ...{ label: name, look: name === 'holdfast' ? 'ours' : 'peer' },
      values: places.map((place) => mine.find((point) => point.at === place && point.name === name)?.row.cells['cpu']),
    }))
    return [
      `${result.id}-${what}`,
      lines(`What it costs as ${what} grow`, 'µs of CPU, client and server, for each', places, all),
    ]
  })
}

interface Crowded {
  readonly kind: string
  readonly clients: string
  readonly hold: string
  readonly name: string
  readonly row: KeptRow
}

/** Points of a row are named "kind, number clients, number ms: participant", or without the ms. */
const crowdedIn = ({ rows }: KeptResult): Crowded[] =>
  rows.flatMap((row) => {
    const [, kind, clients, hold = '', name] =
      /^(.+), ([\d,]+) clients(?:, (\d+) ms)?: (.*)$/.exec(row.participant) ?? []
    return kind === undefined ? [] : [{ kind, clients: clients!, hold, name: name!, row }]
  })

/** Those of the hold that has most of them: there the numbers of clients can be compared. */
const comparable = (points: readonly Crowded[]): Crowded[] => {
  const of = (hold: string): Crowded[] => points.filter((point) => point.hold === hold)
  return [...new Set(points.map(({ hold }) => hold))].map(of).sort((a, b) => b.length - a.length)[0] ?? []
}

const uniques = (values: readonly string[]): string[] => [...new Set(values)]

/** A line for each of `by`, over the numbers of clients. */
const crowdLines = (points: readonly Crowded[], by: 'kind' | 'name', key: string): [string[], Line[]] => {
  const places = uniques(points.map(({ clients }) => clients))
  const all = uniques(points.map((point) => point[by])).map((label): Line => {
    const mine = points.filter((point) => point[by] === label)
    return {
      ...{ label, look: mine.every(({ row }) => lookOf(row) === 'ours') && by === 'name' ? 'ours' : 'peer' },
      values: places.map((place) => mine.find(({ clients }) => clients === place)?.row.cells[key]),
    }
  })
  return [places, all]
}

/** What grows with the number of clients: of the first kind for all participants, and of ours for all kinds. */
const crowdPictures = (result: KeptResult): [string, string][] => {
  const points = crowdedIn(result)
  const first = comparable(points.filter(({ kind }) => kind === points[0]?.kind))
  const ours = uniques(points.map(({ kind }) => kind)).flatMap((kind) =>
    comparable(points.filter((point) => point.kind === kind && lookOf(point.row) === 'ours')),
  )
  const { kind = '', hold = '' } = first[0] ?? {}
  const what = `${kind}, held for ${hold} ms`
  const all = [
    {
      ...({ name: 'requests', points: first, by: 'name', key: 'requests' } as const),
      title: `${what}: requests as clients grow`,
      unit: 'of all clients, for each visit',
    },
    {
      ...({ name: 'late', points: first, by: 'name', key: 'late' } as const),
      title: `${what}: the longest wait as clients grow`,
      unit: 'in parts of what first come, first served would give; less is better',
    },
    {
      ...({ name: 'kinds', points: ours, by: 'kind', key: 'scripts' } as const),
      title: 'holdfast, each kind: scripts as clients grow',
      unit: 'on the server, for each visit',
    },
  ]
  return all.flatMap(({ name, points: some, by, key, title, unit }) => {
    const [places, drawn] = crowdLines(some, by, key)
    const shown = drawn.some(({ values }) => values.some((value) => value !== undefined && value > 0))
    return places.length > 1 && shown ? [[`${result.id}-${name}`, lines(title, unit, places, drawn)]] : []
  })
}

/** Of a side that never had it there is none. */
const secondsOf = (ms: number): string => (Number.isFinite(ms) ? `${format(ms / 1000, 1)} s` : '–')

const sharePicture = (result: KeptResult): string => {
  const measured = result.rows.filter(({ cells }) => Number.isFinite(cells['javaShare']))
  const all = measured.map(({ participant, cells, note }) => ({
    ...{ label: participant, part: cells['javaShare']! },
    shown:
      note ?? `${format(cells['javaShare']!, 0)} %; ${secondsOf(cells['javaMax']!)} and ${secondsOf(cells['ourMax']!)}`,
  }))
  return shares(
    'Redisson’s share of the visits, and the rest, which is ours',
    'beside it the longest wait of Redisson’s and of ours; between the lines the share is fair',
    FAIR_SHARE,
    all,
  )
}

/** By name. */
export const picturesOf = (
  result: KeptResult,
  headline: Headline | undefined,
): readonly (readonly [string, string])[] => {
  const found: (readonly [string, string])[] = []
  if (headline !== undefined && competitors(result.rows, headline).length > 1) {
    found.push([result.id, headlinePicture(result, headline)])
  }
  if (result.rows.some(({ cells }) => cells['p999'] !== undefined && cells['hold'] !== undefined)) {
    found.push([`${result.id}-waits`, waitPicture(result)])
  }
  if (result.rows.some(({ cells }) => Number.isFinite(cells['javaShare']))) {
    found.push([`${result.id}-shares`, sharePicture(result)])
  }
  return [...found, ...crowdPictures(result), ...(headline === undefined ? growthPictures(result) : [])]
}
