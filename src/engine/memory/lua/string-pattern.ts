import { fail } from './arguments.js'
import { spend } from './vm.gen.js'
import type { LuaValue, Thread } from './vm.gen.js'

const ESCAPE = 37
const MAX_CAPTURES = 32
const UNFINISHED = -1
const POSITION = -2

interface Capture {
  start: number
  length: number
}

const at = (text: string, i: number): number => (i < text.length ? text.charCodeAt(i) : 0)

const isAlpha = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90)
const isDigit = (c: number): boolean => c >= 48 && c <= 57
const isGraph = (c: number): boolean => c > 32 && c < 127

const classes: Record<string, (c: number) => boolean> = {
  a: isAlpha,
  c: (c) => c < 32 || c === 127,
  d: isDigit,
  l: (c) => c >= 97 && c <= 122,
  p: (c) => isGraph(c) && !isAlpha(c) && !isDigit(c),
  s: (c) => c === 32 || (c >= 9 && c <= 13),
  u: (c) => c >= 65 && c <= 90,
  w: (c) => isAlpha(c) || isDigit(c),
  x: (c) => isDigit(c) || (c >= 97 && c <= 102) || (c >= 65 && c <= 70),
  z: (c) => c === 0,
}

const inClass = (c: number, letter: number): boolean => {
  const name = String.fromCharCode(letter)
  const test = classes[name.toLowerCase()]
  if (!test) return letter === c
  return name === name.toLowerCase() ? test(c) : !test(c)
}

/** One match of a Lua 5.1 pattern; a zero byte ends the pattern, as in C. */
export class PatternMatch {
  readonly captures: Capture[] = []

  constructor(
    readonly L: Thread,
    readonly text: string,
    readonly pattern: string,
  ) {}

  /** The end of a match that starts at `s`, or -1. */
  match(start: number, from: number): number {
    let s = start
    let p = from
    for (;;) {
      spend(this.L, 1)
      const c = at(this.pattern, p)
      if (c === 40 /* ( */) {
        return at(this.pattern, p + 1) === 41
          ? this.#startCapture(s, p + 2, POSITION)
          : this.#startCapture(s, p + 1, UNFINISHED)
      }
      if (c === 41 /* ) */) return this.#endCapture(s, p + 1)
      if (c === 0) return s
      if (c === ESCAPE) {
        const next = at(this.pattern, p + 1)
        if (next === 98 /* b */) {
          s = this.#balance(s, p + 2)
          if (s < 0) return -1
          p += 4
          continue
        }
        if (next === 102 /* f */) {
          p = this.#frontier(s, p + 2)
          if (p < 0) return -1
          continue
        }
        if (isDigit(next)) {
          s = this.#backReference(s, next)
          if (s < 0) return -1
          p += 2
          continue
        }
      } else if (c === 36 /* $ */ && at(this.pattern, p + 1) === 0) return s === this.text.length ? s : -1
      const end = this.#classEnd(p)
      const suffix = at(this.pattern, end)
      if (suffix === 63 /* ? */) {
        if (this.#single(s, p, end)) {
          const found = this.match(s + 1, end + 1)
          if (found >= 0) return found
        }
        p = end + 1
      } else if (suffix === 42 /* * */) return this.#longest(s, p, end)
      else if (suffix === 43 /* + */) return this.#single(s, p, end) ? this.#longest(s + 1, p, end) : -1
      else if (suffix === 45 /* - */) return this.#shortest(s, p, end)
      else if (this.#single(s, p, end)) {
        s++
        p = end
      } else return -1
    }
  }

  /** The value of capture `i`; the whole match if the pattern has no captures. */
  capture(i: number, start: number, end: number): LuaValue {
    const capture = this.captures[i]
    if (!capture) return i === 0 ? this.text.slice(start, end) : fail(this.L, 'invalid capture index')
    if (capture.length === UNFINISHED) return fail(this.L, 'unfinished capture')
    return capture.length === POSITION
      ? capture.start + 1
      : this.text.slice(capture.start, capture.start + capture.length)
  }

  /** All captures. If there are none and `whole` is set, the whole match. */
  all(start: number, end: number, whole: boolean): LuaValue[] {
    const count = this.captures.length === 0 && whole ? 1 : this.captures.length
    return Array.from({ length: count }, (_, i) => this.capture(i, start, end))
  }

  #classEnd(from: number): number {
    let p = from
    const c = at(this.pattern, p++)
    if (c === ESCAPE) {
      if (at(this.pattern, p) === 0) fail(this.L, "malformed pattern (ends with '%')")
      return p + 1
    }
    if (c !== 91 /* [ */) return p
    if (at(this.pattern, p) === 94) p++
    do {
      const inner = at(this.pattern, p++)
      if (inner === 0) fail(this.L, "malformed pattern (missing ']')")
      if (inner === ESCAPE && at(this.pattern, p) !== 0) p++
    } while (at(this.pattern, p) !== 93)
    spend(this.L, (p - from) >> 3)
    return p + 1
  }

  #single(s: number, p: number, end: number): boolean {
    return s < this.text.length && this.#matches(this.text.charCodeAt(s), p, end)
  }

  #matches(c: number, p: number, end: number): boolean {
    switch (at(this.pattern, p)) {
      case 46 /* . */:
        return true
      case ESCAPE:
        return inClass(c, at(this.pattern, p + 1))
      case 91 /* [ */:
        return this.#inSet(c, p, end - 1)
      default:
        return at(this.pattern, p) === c
    }
  }

  #inSet(c: number, from: number, last: number): boolean {
    spend(this.L, (last - from) >> 3)
    let p = from
    const found = at(this.pattern, p + 1) !== 94
    if (!found) p++
    while (++p < last) {
      if (at(this.pattern, p) === ESCAPE) {
        p++
        if (inClass(c, at(this.pattern, p))) return found
      } else if (at(this.pattern, p + 1) === 45 && p + 2 < last) {
        p += 2
        if (at(this.pattern, p - 2) <= c && c <= at(this.pattern, p)) return found
      } else if (at(this.pattern, p) === c) return found
    }
    return !found
  }

  #longest(s: number, p: number, end: number): number {
    let i = 0
    while (this.#single(s + i, p, end)) i++
    spend(this.L, i >> 2)
    for (; i >= 0; i--) {
      const found = this.match(s + i, end + 1)
      if (found >= 0) return found
    }
    return -1
  }

  #shortest(start: number, p: number, end: number): number {
    for (let s = start; ; s++) {
      const found = this.match(s, end + 1)
      if (found >= 0) return found
      if (!this.#single(s, p, end)) return -1
    }
  }

  #startCapture(s: number, p: number, length: number): number {
    if (this.captures.length >= MAX_CAPTURES) fail(this.L, 'too many captures')
    this.captures.push({ start: s, length })
    const found = this.match(s, p)
    if (found < 0) this.captures.pop()
    return found
  }

  #endCapture(s: number, p: number): number {
    let i = this.captures.length - 1
    while (i >= 0 && this.captures[i]?.length !== UNFINISHED) i--
    const capture = this.captures[i]
    if (!capture) return fail(this.L, 'invalid pattern capture')
    capture.length = s - capture.start
    const found = this.match(s, p)
    if (found < 0) capture.length = UNFINISHED
    return found
  }

  #balance(s: number, p: number): number {
    const open = at(this.pattern, p)
    const close = at(this.pattern, p + 1)
    if (open === 0 || close === 0) fail(this.L, 'unbalanced pattern')
    if (s >= this.text.length || this.text.charCodeAt(s) !== open) return -1
    let depth = 1
    spend(this.L, (this.text.length - s) >> 3)
    for (let i = s + 1; i < this.text.length; i++) {
      const c = this.text.charCodeAt(i)
      if (c === close) {
        if (--depth === 0) return i + 1
      } else if (c === open) depth++
    }
    return -1
  }

  #frontier(s: number, p: number): number {
    if (at(this.pattern, p) !== 91) fail(this.L, "missing '[' after '%f' in pattern")
    const end = this.#classEnd(p)
    const before = s === 0 ? 0 : this.text.charCodeAt(s - 1)
    return this.#inSet(before, p, end - 1) || !this.#inSet(at(this.text, s), p, end - 1) ? -1 : end
  }

  #backReference(s: number, digit: number): number {
    const capture = this.captures[digit - 49]
    if (!capture || capture.length === UNFINISHED) return fail(this.L, 'invalid capture index')
    const part = this.text.slice(capture.start, capture.start + capture.length)
    spend(this.L, part.length >> 4)
    return this.text.startsWith(part, s) ? s + part.length : -1
  }
}
