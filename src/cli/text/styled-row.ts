import { HIDDEN } from '../../plain-text.js'

/** A row of the picture: pieces of text, each with a style. Escape codes are added only when it is painted. */

export type Style = 'strong' | 'dim' | 'good' | 'bad' | 'lost' | 'accent' | 'chosen'

export interface Span {
  readonly text: string
  readonly style?: Style | undefined
}

export type Row = readonly Span[]

// The colours of the terminal's sixteen that are readable on dark and on light backgrounds; no yellow, no blue.
const CODES: Record<Style, string> = {
  strong: '1',
  dim: '2',
  good: '32',
  bad: '1;31',
  lost: '1;35',
  accent: '36',
  chosen: '7',
}

/** Names come from outside: a character that could move the cursor or change a colour is shown as a question mark. */
export const harmless = (text: string): string => text.replace(HIDDEN, '?')

export const plainText = (row: Row): string => row.map(({ text }) => text).join('')

export const paint = (row: Row, colours: boolean): string =>
  row
    .filter(({ text }) => text !== '')
    .map(({ text, style }) => {
      const clean = harmless(text)
      return colours && style !== undefined ? `\x1b[${CODES[style]}m${clean}\x1b[0m` : clean
    })
    .join('')

/** The first `width` columns. */
export const cut = (row: Row, width: number): Row => {
  let left = width
  const kept: Span[] = []
  for (const span of row) {
    const text = span.text.slice(0, left)
    left -= text.length
    if (text !== '') kept.push({ ...span, text })
  }
  return kept
}

/** Cut or filled with spaces to exactly `width`. */
export const fill = (row: Row, width: number): Row => {
  const kept = cut(row, width)
  return [...kept, { text: ' '.repeat(width - plainText(kept).length) }]
}

/** One piece at the left edge, the other at the right. */
export const gap = (left: Row, right: Row, width: number): Row => [
  ...fill(left, width - plainText(right).length),
  ...right,
]
