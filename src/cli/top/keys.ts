export type Key =
  | 'up'
  | 'down'
  | 'page up'
  | 'page down'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'interrupt'
  | 'suspend'
  | { readonly typed: string }

/** What terminals send. Those in application mode send an O for the bracket. */
const SENT: Readonly<Record<string, Key>> = {
  '\x1b[A': 'up',
  '\x1bOA': 'up',
  '\x1b[B': 'down',
  '\x1bOB': 'down',
  '\x1b[5~': 'page up',
  '\x1b[6~': 'page down',
  '\x1b[H': 'home',
  '\x1bOH': 'home',
  '\x1b[1~': 'home',
  '\x1b[F': 'end',
  '\x1bOF': 'end',
  '\x1b[4~': 'end',
  '\r': 'enter',
  '\n': 'enter',
  '\x1b': 'escape',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x03': 'interrupt',
  '\x1a': 'suspend',
}

/** The keys of some input. What is neither a character nor known is left out. */
export const keysIn = (input: string): readonly Key[] =>
  // eslint-disable-next-line no-control-regex -- terminals send control characters
  [...input.matchAll(/\x1b(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])|[^]/gu)].flatMap(([sent]): Key[] => {
    const key = SENT[sent]
    if (key !== undefined) return [key]
    return /^\P{C}$/u.test(sent) ? [{ typed: sent }] : []
  })
