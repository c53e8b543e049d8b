/** Whether a text matches a glob-style pattern, as in KEYS, SCAN and PSUBSCRIBE: `*`, `?`, `[a-c]`, `[^a-c]`, and `\` before any of these signs. */
export const globMatches = (pattern: string, text: string): boolean => {
  // In Redis, only an empty pattern matches an empty text, even if the pattern has only stars.
  if (text === '') return pattern === ''
  let at = 0
  let star = -1
  let tried = 0
  for (let i = 0; i < text.length;) {
    if (pattern[at] === '*') {
      star = at++
      tried = i
      continue
    }
    const next = at < pattern.length ? step(pattern, at, text.charCodeAt(i)) : -1
    if (next >= 0) {
      at = next
      i++
      continue
    }
    if (star < 0) return false
    at = star + 1
    i = ++tried
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}

/** Where the pattern continues after it has matched one character, or -1. */
const step = (pattern: string, at: number, char: number): number => {
  const sign = pattern[at]
  if (sign === '?') return at + 1
  if (sign === '[') return stepClass(pattern, at + 1, char)
  const literal = sign === '\\' && at + 1 < pattern.length ? at + 1 : at
  return pattern.charCodeAt(literal) === char ? literal + 1 : -1
}

const stepClass = (pattern: string, start: number, char: number): number => {
  const not = pattern[start] === '^'
  let at = not ? start + 1 : start
  let matched = false
  for (; at < pattern.length && pattern[at] !== ']'; at++) {
    if (pattern[at] === '\\' && at + 1 < pattern.length) {
      at++
      if (pattern.charCodeAt(at) === char) matched = true
    } else if (pattern[at + 1] === '-' && at + 2 < pattern.length) {
      const from = pattern.charCodeAt(at)
      const to = pattern.charCodeAt((at += 2))
      if (char >= Math.min(from, to) && char <= Math.max(from, to)) matched = true
    } else if (pattern.charCodeAt(at) === char) matched = true
  }
  if (matched === not) return -1
  // An unclosed class ends with the pattern.
  return Math.min(at + 1, pattern.length)
}
