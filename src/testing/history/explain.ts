import type { HistoryEvent, Violation } from './events.js'
import { isCall } from './events.js'

const WIDTH = 100
/** How many of the events between the two are shown: half of them from the start, half from the end. */
const SHOWN = 14

/** A violation on one screen: which two events contradict one another, why, and what lies between them. */
export const explain = ({ rule, name, first, second, why, between }: Violation): string => {
  const line = (event: HistoryEvent): string => `${since(first, event)}  ${describe(event)}`
  const half = SHOWN / 2
  const hidden = between.length - SHOWN
  const shown =
    hidden <= 0
      ? between.map(line)
      : [...between.slice(0, half).map(line), `… ${hidden} more …`, ...between.slice(-half).map(line)]
  const lines = [
    `${rule} of '${name}', at ${first.at.toFixed(3)} ms`,
    ...wrapped(why),
    `  1 ${line(first)}`,
    ...shown.map((text) => `    ${text}`),
    `  2 ${line(second)}`,
  ]
  return lines.map(fitting).join('\n')
}

const since = (first: HistoryEvent, event: HistoryEvent): string => {
  const ms = event.at - first.at
  return `${ms < 0 ? '' : '+'}${ms.toFixed(3)}`.padStart(11)
}

const describe = (event: HistoryEvent): string => {
  if (!isCall(event)) {
    const { what, to, at, process = 'everybody', note } = event
    return `${what} for ${(to - at).toFixed(0)} ms, ${process}${note === undefined ? '' : `: ${note}`}`
  }
  const { what, process, call, mode, owner, until, token } = event
  const words = [`${process} call ${call}`, what]
  if (mode === 'shared') words.push(mode)
  if (owner !== undefined) words.push(`for ${owner}`)
  if (until !== undefined) words.push(`certain for ${(until - event.at).toFixed(3)} ms`)
  if (token !== undefined) words.push(`token ${token}`)
  return words.join(', ')
}

/** Names come from others: what would move the cursor is shown as a point. */
const fitting = (line: string): string => {
  const plain = line.replace(/\p{C}/gu, '·')
  return plain.length <= WIDTH ? plain : `${plain.slice(0, WIDTH - 1)}…`
}

/** In lines that fit, three at most. */
const wrapped = (text: string): string[] => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].slice(0, 3)
}
