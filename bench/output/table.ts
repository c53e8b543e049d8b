/** Headings above each other where they are long, so that the table fits a terminal. */
const stacked = ([heads = [], ...rows]: readonly (readonly string[])[]): string[][] => {
  const words = heads.map((head) => head.split(/ |(?<=\/)/))
  const height = Math.max(...words.map(({ length }) => length))
  const lines = Array.from({ length: height }, (_, line) =>
    words.map((parts) => parts[line - (height - parts.length)] ?? ''),
  )
  return [...lines, ...rows.map((row) => [...row])]
}

/** For a terminal; `left`: which columns are words. */
export const asLines = (grid: readonly (readonly string[])[], left: readonly number[]): string[] => {
  const lines = stacked(grid)
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const cell = (text: string, column: number): string =>
    left.includes(column) ? text.padEnd(widths[column]!) : text.padStart(widths[column]!)
  return lines.map((line) => line.map(cell).join('  ').trimEnd())
}

export const asMarkdown = ([heads = [], ...rows]: readonly (readonly string[])[], left: readonly number[]): string => {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rule = line(heads.map((_, column) => (left.includes(column) ? '---' : '---:')))
  return [line(heads), rule, ...rows.map(line)].join('\n')
}
