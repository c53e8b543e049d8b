/** A text with its placeholders filled in, and where each of its characters comes from. */
export interface Filled {
  readonly text: string
  /** Maps an offset in `text` to the offset in the original text. */
  origin(offset: number): number
}

/** Redisson's form: `${NAME}` and `${NAME:-default}`. The default ends at the first brace and cannot contain `:-`. */
export const REDISSON = /\$\{([\w.]+)(?::-((?:(?!:-)[^}])*))?\}/g
/** Spring's form has only a colon. Redisson's form is accepted there, too, with the same meaning. */
export const SPRING = /\$\{([\w.-]+)(?::-?([^}]*))?\}/g

export type Environment = Readonly<Record<string, string | undefined>>

interface Piece {
  /** Offsets in the new text. */
  readonly from: number
  readonly to: number
  /** Offsets in the original text. */
  readonly begin: number
  readonly end: number
}

/**
 * Runs before the file is parsed as YAML, like in Redisson: a value may be a whole list. A variable that is not set and has no
 * default stays as it is.
 */
export const fill = (source: string, env: Environment, form: RegExp): Filled => {
  const pieces: Piece[] = []
  let text = ''
  let done = 0
  for (const match of source.matchAll(form)) {
    const [whole, name = '', fallback] = match
    // The environment is an object, but its inherited `toString` is not a variable.
    const value = (Object.hasOwn(env, name) ? env[name] : undefined) ?? fallback
    if (value === undefined) continue
    text += source.slice(done, match.index)
    done = match.index + whole.length
    pieces.push({ from: text.length, to: text.length + value.length, begin: match.index, end: done })
    text += value
  }
  const origin = (offset: number): number => {
    const piece = pieces[firstAfter(pieces, ({ from }) => from <= offset) - 1]
    if (piece === undefined) return offset
    return offset < piece.to ? piece.begin : piece.end + offset - piece.to
  }
  return { text: text + source.slice(done), origin }
}

/** In a list that begins with the items that are `before`: the index of the first other item. */
export const firstAfter = <T>(list: readonly T[], before: (item: T) => boolean): number => {
  let from = 0
  let to = list.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (before(list[middle] as T)) from = middle + 1
    else to = middle
  }
  return from
}

/** The name of a placeholder that was not filled in. */
export const leftOver = (text: string): string | undefined => /\$\{([\w.-]+)[^}]*\}/.exec(text)?.[1]
