import { short, type Fate, type Holder, type LockView, type Stage, type Tone } from './stage.js'
import { wrapped } from '../text/wrap.js'
import { fill, gap, plainText, type Row, type Span } from '../text/styled-row.js'

/** Draws the stage as a picture of 80 columns and 24 rows. A pure function: the same stage and time give the same picture. */

export const WIDTH = 80
export const HEIGHT = 24

const BAR = 20
const INNER = WIDTH - 6
const LOG_ROWS = 4
const COLOUR: Record<Tone, Span['style']> = { plain: 'accent', good: 'good', bad: 'bad', lost: 'lost' }
const MARK: Record<Fate, string> = { inside: '', crashed: ' ×', lost: ' !' }

export interface Show {
  /** The server of the locks. It is shown, so it has no password. */
  readonly where: string
  readonly now: number
  readonly end: number
}

const boxed = (row: Row): Row => [{ text: '│  ', style: 'dim' }, ...fill(row, INNER), { text: '  │', style: 'dim' }]

const rule = (lock: LockView, first: boolean): Row => {
  const count = `${lock.handOvers} hand-over${lock.handOvers === 1 ? '' : 's'}`
  const line = '─'.repeat(WIDTH - lock.name.length - count.length - 8)
  const [left, right] = first ? ['╭', '╮'] : ['├', '┤']
  return [
    { text: `${left}─ `, style: 'dim' },
    { text: lock.name, style: 'strong' },
    { text: ` ${line} ${count} ─${right}`, style: 'dim' },
  ]
}

const bar = (holder: Holder): Row => {
  const full = Math.round(BAR * Math.min(1, holder.left / holder.lease))
  const style = holder.fate === 'crashed' ? 'bad' : holder.fate === 'lost' ? 'lost' : 'good'
  return [
    { text: '█'.repeat(full), style },
    { text: '░'.repeat(BAR - full), style: 'dim' },
  ]
}

const STATUS: Record<Fate, (holder: Holder, now: number) => Row> = {
  inside: ({ left, fixed, since }, now) => [
    { text: `  ${short(left)} left, ${fixed ? 'fixed  ' : 'renewed'}` },
    { text: `  inside ${short(now - since)}`, style: 'dim' },
  ],
  crashed: ({ left }) => [
    { text: `  ${short(left)} left, ` },
    { text: 'crashed', style: 'bad' },
    { text: ', not renewed', style: 'dim' },
  ],
  lost: () => [{ text: '  lost', style: 'lost' }, { text: ': noticed in time, stopped' }],
}

const holding = ({ holder }: LockView, now: number): Row => {
  const label: Span = { text: 'held by  ', style: 'dim' }
  if (holder === undefined) return [label, { text: 'nobody', style: 'dim' }]
  const style = holder.fate === 'crashed' ? 'bad' : holder.fate === 'lost' ? 'lost' : 'good'
  return [label, { text: holder.worker.padEnd(7), style }, ...bar(holder), ...STATUS[holder.fate](holder, now)]
}

const waiting = (lock: LockView, now: number): Row => {
  const label: Span = { text: 'waiting  ', style: 'dim' }
  if (lock.waiting.length === 0) return [label, { text: 'nobody', style: 'dim' }]
  const row = lock.waiting.flatMap(({ worker, since }, index): Row => [
    { text: `${index === 0 ? '' : ', '}${worker}` },
    { text: ` ${short(now - since)}`, style: 'dim' },
  ])
  // If there are many waiters, their names matter more than how long they wait.
  if (plainText(row).length + label.text.length <= INNER) return [label, ...row]
  return [label, { text: lock.waiting.map(({ worker }) => worker).join(', ') }]
}

const trail = (lock: LockView): Row => {
  const label: Span = { text: 'trail    ', style: 'dim' }
  const steps: Row[] = lock.trail.map(({ worker, fate }): Row => [
    { text: worker, style: fate === 'crashed' ? 'bad' : fate === 'lost' ? 'lost' : 'dim' },
    { text: MARK[fate], style: fate === 'crashed' ? 'bad' : 'lost' },
  ])
  const arrow: Span = { text: ' → ', style: 'dim' }
  let shown: Row = steps.at(-1) ?? []
  let index = steps.length - 2
  for (; index >= 0; index--) {
    const longer = [...(steps[index] ?? []), arrow, ...shown]
    // Leaves two columns for the dots that stand for earlier entries.
    if (plainText(longer).length > INNER - label.text.length - 2) break
    shown = longer
  }
  return index >= 0 ? [label, { text: '… ', style: 'dim' }, ...shown] : [label, ...shown]
}

const panel = (lock: LockView, first: boolean, now: number): Row[] => [
  rule(lock, first),
  boxed(holding(lock, now)),
  boxed(waiting(lock, now)),
  boxed(trail(lock)),
]

/** Splits words into lines of at most `width` columns, at most `rows` of them. */
export const wrap = (text: string, width: number, rows: number): string[] => {
  const lines = wrapped(text, width)
  return Array.from({ length: rows }, (_, row) => lines[row] ?? '')
}

const caption = ({ text, tone }: Stage['caption']): Row[] =>
  wrap(text, WIDTH - 4, 2).map((line) => [
    { text: line === '' ? '  ' : ' ▌', style: COLOUR[tone] },
    { text: ` ${line}`, style: 'strong' },
  ])

const logged = (stage: Stage): Row[] => {
  const told = stage.log.filter(({ lock }) => lock !== undefined).slice(-LOG_ROWS)
  return Array.from({ length: LOG_ROWS }, (_, row): Row => {
    const line = told[row]
    if (line === undefined) return []
    const style = line.tone === 'bad' || line.tone === 'lost' ? line.tone : 'dim'
    return [
      { text: ` ${short(line.at).padStart(7)}  ${(line.lock ?? '').padEnd(10)}`, style: 'dim' },
      { text: line.text, style },
    ]
  })
}

const header = ({ where, now, end }: Show): Row => {
  const clock = `${(now / 1000).toFixed(1)} of ${String(Math.round(end / 1000))} s `
  const left: Row = [
    { text: ' holdfast demo', style: 'strong' },
    { text: `  on ${where}`, style: 'dim' },
  ]
  return gap(left, [{ text: clock, style: 'dim' }], WIDTH)
}

const footer = (stage: Stage): Row => {
  const { acquired, handOvers } = stage.totals()
  const told = ` ${String(acquired)} acquired, ${String(handOvers)} handed over`
  const proof: Span =
    stage.violations === 0
      ? { text: `never two inside: checked ${String(stage.checks)} times `, style: 'good' }
      : { text: `TWO INSIDE: ${String(stage.violations)} of ${String(stage.checks)} checks `, style: 'bad' }
  return gap([{ text: told, style: 'dim' }], [proof], WIDTH)
}

export const frame = (stage: Stage, show: Show): Row[] =>
  [
    header(show),
    ...stage.locks.flatMap((lock, index) => panel(lock, index === 0, show.now)),
    [{ text: `╰${'─'.repeat(WIDTH - 2)}╯`, style: 'dim' } as const],
    [],
    ...caption(stage.caption),
    [],
    ...logged(stage),
    [],
    footer(stage),
  ].map((row) => fill(row, WIDTH))
