import { type KeptResult, type KeptRow, format } from '../base/result.js'

/** The one figure of a scenario that its line in the summary, and its picture, show. */
export interface Headline {
  readonly what: string
  readonly key: string
  readonly digits: number
  /** Less is better. */
  readonly less?: true
  /** Where rows of several loads stand in one table: what those of this one begin with. */
  readonly of?: string
}

/** Floors, and the bare scripts, are no peers. */
const NO_PEERS = ['holdfast', 'raw', 'floor']

/** Who has the figure, under his own name. */
export const competitors = (rows: readonly KeptRow[], { key, of = '' }: Headline): KeptRow[] =>
  rows
    .filter(({ participant, cells }) => participant.startsWith(of) && Number.isFinite(cells[key]))
    .map((row) => ({ ...row, participant: row.participant.slice(of.length) }))

/** The best of those who kept to the rules. */
const bestPeer = (rows: readonly KeptRow[], { key, less }: Headline): KeptRow | undefined =>
  rows
    .filter(({ family, note }) => !NO_PEERS.includes(family) && note !== 'VIOLATED')
    .sort((one, other) => (less ? 1 : -1) * (one.cells[key]! - other.cells[key]!))[0]

const times = (ours: number, peer: number, less: boolean): string => {
  const ratio = less ? peer / ours : ours / peer
  return Number.isFinite(ratio) ? format(ratio, ratio < 100 ? 2 : 0) : '–'
}

export const SUMMARY_HEADS = ['', 'holdfast', 'best peer', 'its name', 'times as good', 'target: measured', 'reached']

/** What was missed, if anything, is what is shown. */
const outcome = ({ targets, conditions }: KeptResult): [string, string] => {
  const missed = targets.filter(({ reached }) => !reached)
  const shown = missed[0] ?? targets[0]
  if (shown === undefined) return ['', '']
  const of = targets.length > 1 ? ` (${targets.length - missed.length} of ${targets.length})` : ''
  const not = conditions.quick ? 'not in this look' : 'NO'
  return [`${shown.text}: ${shown.measured}`, `${missed.length === 0 ? 'yes' : not}${of}`]
}

/** One line for a scenario. */
export const summaryOf = (result: KeptResult, headline: Headline | undefined): string[] => {
  if (headline === undefined) return [result.title, '', '', '', '', ...outcome(result)]
  const { key, digits, less = false, of = '', what } = headline
  const rows = competitors(result.rows, headline)
  const ours = rows.find(({ family }) => family === 'holdfast')
  const peer = bestPeer(rows, headline)
  const shown = (row: KeptRow | undefined): string => (row === undefined ? '–' : format(row.cells[key]!, digits))
  return [
    `${result.id.toUpperCase()}  ${of}${what}`,
    ours?.note === 'VIOLATED' ? 'VIOLATED' : shown(ours),
    shown(peer),
    peer?.participant ?? '',
    ours === undefined || peer === undefined ? '–' : times(ours.cells[key]!, peer.cells[key]!, less),
    ...outcome(result),
  ]
}
