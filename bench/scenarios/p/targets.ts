/** Which rows of P reach what they are to reach. */
import { type Row, type Target, findRow, format, inEveryRow, target } from '../../base/result.js'
import { ALL, FAIR, LIMITER, SORTS, type Sort, type Trial, US, USUAL, WHO, nameOf } from './trials.js'

const oursOf = (rows: readonly Row[], trials: readonly Trial[], subject = US): Row[] =>
  trials.flatMap((one) => findRow(rows, `${nameOf(one)}: ${subject}`) ?? [])

/** Within so much two are as good as each other. */
const ALIKE = 1.03

/** In which trials a peer has more visits, or shares them more evenly, or lets nobody wait for as long. */
const above = (rows: readonly Row[], trials: readonly Trial[]): string[] =>
  trials.flatMap((one) => {
    const ours = findRow(rows, `${nameOf(one)}: ${US}`)?.cells ?? {}
    return WHO.slice(1).flatMap((who) => {
      const row = findRow(rows, `${nameOf(one)}: ${who}`)
      if (row === undefined || row.note === 'VIOLATED') return []
      const { rate = NaN, share = NaN, longest = NaN } = row.cells
      const better = {
        visits: rate > ALIKE * ours['rate']!,
        share: share > ALIKE * ours['share']!,
        'longest wait': longest < ours['longest']! / ALIKE,
      }
      return Object.entries(better).flatMap(([what, is]) => (is ? [`${who}, ${nameOf(one)}: ${what}`] : []))
    })
  })

/** How many times as much CPU a visit takes at the worst of the sizes as at the best, for a kind. */
const growth = (rows: readonly Row[], sort: Sort, key: 'clientCpu' | 'serverCpu'): number => {
  const trials = ALL.filter((one) => one.sort === sort && (sort === LIMITER || one.holdMs === USUAL))
  const cpu = oursOf(rows, trials).flatMap(({ cells }) => cells[key] ?? [])
  return cpu.length > 1 ? Math.max(...cpu) / Math.min(...cpu) : NaN
}

const growthTarget = (rows: readonly Row[]): Target => {
  const all = SORTS.filter((sort) => sort !== FAIR).flatMap((sort) =>
    (['client', 'server'] as const).map((side) => ({
      text: `${side}, ${sort.name}`,
      times: growth(rows, sort, `${side}Cpu`),
    })),
  )
  const [worst] = all.filter(({ times }) => !Number.isNaN(times)).sort((a, b) => b.times - a.times)
  return target(
    'CPU a visit of server and of clients, most ÷ least over the numbers of clients ≤ 1.5',
    worst?.times,
    (times) => times <= 1.5,
    (times) => `${format(times, 2)} (${worst!.text})`,
  )
}

const cellOf =
  (key: string, sign: 1 | -1 = 1) =>
  ({ cells }: Row): number =>
    sign * (cells[key] ?? NaN)

const shown =
  (key: string) =>
  ({ cells }: Row): string =>
    format(cells[key]!, 2)

const scripts = (text: string, rows: readonly Row[]): Target =>
  inEveryRow(text, rows, { off: cellOf('scripts'), limit: 3.5, shown: shown('scripts') })

const shares = (text: string, rows: readonly Row[]): Target =>
  inEveryRow(text, rows, { off: cellOf('share', -1), limit: -0.8, shown: shown('share') })

export const targetsOf = (all: readonly Row[], trials: readonly Trial[], subject = US): Target[] => {
  const rows = oursOf(
    all,
    trials.filter(({ sort }) => sort !== FAIR),
    subject,
  )
  const fair = oursOf(
    all,
    trials.filter(({ sort }) => sort === FAIR),
    subject,
  )
  const busy = trials.filter(
    ({ sort, clients, holdMs }) => sort !== FAIR && [16, 64].includes(clients) && (holdMs > 0 || sort === LIMITER),
  )
  const peers = above(all, trials)
  const clean = {
    off: ({ note }: Row): number => (note === undefined ? 0 : 1),
    limit: 0,
    shown: ({ note = 'none' }: Row): string => note,
  }
  return [
    scripts('scripts a visit ≤ 3.5 in every row', rows),
    growthTarget(all),
    inEveryRow('≥ 0.92 × ideal with 16 and 64 clients and a hold', oursOf(all, busy, subject), {
      ...{ off: cellOf('ratio', -1), limit: -0.92, shown: shown('ratio') },
    }),
    shares('least ÷ most served ≥ 0.8 in every row', rows),
    inEveryRow('longest wait ≤ 1.5 × what is due in every row', rows, {
      ...{
        off: cellOf('late'),
        limit: 1.5,
        shown: ({ cells }) => `${format(cells['late']!, 1)} ×: ${format(cells['longest']!, 0)} ms`,
      },
    }),
    inEveryRow('nobody inside together, nobody left waiting', [...rows, ...fair], clean),
    ...(trials.some(({ sort }) => sort === FAIR)
      ? [
          scripts('the fair lock: scripts a visit ≤ 3.5 in every row', fair),
          shares('the fair lock: least ÷ most served ≥ 0.8 in every row', fair),
        ]
      : []),
    target(
      `no peer above us in visits, share or longest wait${peers.length > 0 ? `: ${peers.slice(0, 3).join('; ')}` : ''}`,
      peers.length,
      (count) => count === 0,
      String,
    ),
  ]
}
