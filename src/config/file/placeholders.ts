/** A text whose placeholders are filled in, and where each of its characters comes from. */
export interface Filled {
  readonly text: string
  /** From an offset in `text` to that in the text as it was. */
  origin(offset: number): number
}

/** Redisson's: `${NAME}` and `${NAME:-default}`, whose default ends at the first brace and holds no `:-`. */
export const REDISSON = /\$\{([\w.]+)(?::-((?:(?!:-)[^}])*))?\}/g
/** Spring's have a colon alone; who means Redisson's in there means the same. */
export const SPRING = /\$\{([\w.-]+)(?::-?([^}]*))?\}/g

export type Environment = Readonly<Record<string, string | undefined>>

interface Piece {
  /** In the text as it is now. */
  readonly from: number
  readonly to: number
  /** In the text as it was. */
  readonly begin: number
  readonly end: number
}

/** Before the file is read as YAML, as Redisson does: a value may be a whole list. What is not set and has no default stays. */
export const fill = (source: string, env: Environment, form: RegExp): Filled => {
  const pieces: Piece[] = []
  let text = ''
  let done = 0
  for (const match of source.matchAll(form)) {
    const [whole, name = '', fallback] = match
    // Whatever an environment is made of: `toString` is no variable.
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

/** Where, in a list that begins with those that are `before`, the others begin. */
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

/** A placeholder that nobody filled in. Its name. */
export const leftOver = (text: string): string | undefined => /\$\{([\w.-]+)[^}]*\}/.exec(text)?.[1]
