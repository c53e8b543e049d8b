/** Signs that a terminal draws over the one before. */
const NONE = /[\p{Mn}\p{Me}\u1160-\u11ff\u200c\u200d]/u
/** Signs that take two columns: those of East Asia, and pictures. */
const TWO =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u

const columnsOf = (sign: string): number => (NONE.test(sign) ? 0 : TWO.test(sign) ? 2 : 1)

/** How many columns the output has; a pipe has no end. */
export const widthOfOutput = (): number => (process.stdout.isTTY ? process.stdout.columns || 80 : Infinity)

/** How many columns of a terminal the text takes. It must be plain already. */
export const widthOf = (text: string): number => {
  let width = 0
  for (const sign of text) width += columnsOf(sign)
  return width
}

/** The text, or its beginning if it takes more columns. */
export const cutTo = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ''
  let left = width - 1
  for (const sign of text) {
    left -= columnsOf(sign)
    if (left < 0) break
    kept += sign
  }
  return width > 0 ? `${kept}…` : ''
}
