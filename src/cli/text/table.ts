import { cutTo, widthOf } from './width.js'

export interface Column {
  readonly title: string
  /** Numbers and times end at the same column. */
  readonly right?: boolean | undefined
  /** How narrow it may become. Others are never cut. */
  readonly least?: number | undefined
}

const GAP = 2

/** Makes the widest columns narrower, as far as they may be, until the line fits. */
const fitted = (columns: readonly Column[], wanted: readonly number[], width: number): readonly number[] => {
  const widths = [...wanted]
  let excess = widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1)) - width
  for (; excess > 0; excess--) {
    let widest = -1
    columns.forEach(({ least }, i) => {
      const may = least !== undefined && (widths[i] ?? 0) > least
      if (may && (widths[i] ?? 0) > (widths[widest] ?? 0)) widest = i
    })
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

/** A line for the titles and one for each row, none wider than `width`. The texts must be plain already. */
export const tableOf = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] => {
  const lines = [columns.map(({ title }) => title), ...rows]
  const wanted = columns.map((_, i) => lines.reduce((most, line) => Math.max(most, widthOf(line[i] ?? '')), 0))
  const widths = width === Infinity ? wanted : fitted(columns, wanted, width)
  const cell = (text: string, i: number): string => {
    const shown = cutTo(text, widths[i] ?? 0)
    const blanks = ' '.repeat((widths[i] ?? 0) - widthOf(shown))
    return columns[i]?.right === true ? blanks + shown : shown + blanks
  }
  return lines.map((line) => cutTo(line.map(cell).join(' '.repeat(GAP)).trimEnd(), width))
}
