import { widthOf } from './width.js'

/** Of pages for people, whatever the terminal is. */
export const WIDTH = 80

/** Splits words into lines of at most `width` columns. */
export const wrapped = (text: string, width: number): string[] => {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(last) + widthOf(word) < width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
