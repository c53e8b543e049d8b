import type { Row } from '../text/styled-row.js'
import { duration, type Ending, type Stage } from './stage.js'

const cells = (name: string, ...values: readonly string[]): string =>
  `  ${name.padEnd(12)}${values.map((value) => value.padStart(14)).join('')}`

const counted = (stage: Stage): Row[] => {
  const row = (name: string, of: { acquired: number; handOvers: number; longestWait: number }): string =>
    cells(name, String(of.acquired), String(of.handOvers), duration(of.longestWait))
  return [
    [{ text: cells('lock', 'acquired', 'handed over', 'longest wait'), style: 'dim' }],
    ...stage.locks.map((lock): Row => [{ text: row(lock.name, lock) }]),
    [{ text: row('all', stage.totals()), style: 'strong' }],
  ]
}

const fact = (name: string, value: string, style?: 'good' | 'bad' | 'lost'): Row => [
  { text: `  ${name.padEnd(22)}`, style: 'dim' },
  { text: value, style },
]

const ended = ({ worker, lock, next }: Ending): string =>
  next === undefined
    ? `${worker}, holding '${lock}'; no worker has acquired it since`
    : `${worker}, holding '${lock}'; ${next.worker} acquired it ${next.after < 5 ? 'at once' : `${duration(next.after)} later`}`

const listed = (name: string, endings: readonly Ending[]): Row[] =>
  endings.length === 0
    ? [fact(name, '0')]
    : endings.map((one, index) =>
        index === 0 ? fact(name, `${String(endings.length)}  ${ended(one)}`) : fact('', `   ${ended(one)}`),
      )

/** What stays on the normal screen after the demo. */
export const summary = (stage: Stage, left: readonly string[]): Row[] => [
  [],
  ...counted(stage),
  [],
  ...listed('crashed', stage.crashed),
  ...listed('lost and noticed', stage.lost),
  fact('left behind', left.length === 0 ? 'nothing: every lock is free' : `still held: ${left.join(', ')}`),
  stage.violations === 0
    ? fact('never two inside', `checked ${String(stage.checks)} times`, 'good')
    : fact('TWO INSIDE', `${String(stage.violations)} of ${String(stage.checks)} checks`, 'bad'),
  [],
  [
    { text: '  Next: ' },
    { text: 'npm test', style: 'strong' },
    { text: ' runs every test that this machine can run.' },
  ],
  [
    { text: '  Then: the ten-line example in ' },
    { text: 'README.md', style: 'strong' },
    { text: ' is ready to copy.' },
  ],
]
