import { fail, spendText } from './arguments.js'
import { formatGeneral } from './number-format.js'
import { next, rawGet, spend, Table, typeName } from './vm.gen.js'
import type { CjsonSettings } from './cjson-settings.js'
import type { LuaValue, Thread } from './vm.gen.js'

const ESCAPES: Record<string, string> = {
  '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '"': '\\"', '\\': '\\\\', '/': '\\/',
} // prettier-ignore

const NEEDS_ESCAPE = /[\0-\x1f"\\/\x7f]/g // eslint-disable-line no-control-regex

const escape = (c: string): string => ESCAPES[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`

const quote = (text: string): string => `"${text.replace(NEEDS_ESCAPE, escape)}"`

const INT_MAX = 0x7fffffff

/** cjson.encode, down to its messages. */
export class CjsonEncoder {
  readonly #L: Thread
  readonly #settings: CjsonSettings

  constructor(L: Thread, settings: CjsonSettings) {
    this.#L = L
    this.#settings = settings
  }

  encode(value: LuaValue, depth: number): string {
    spend(this.#L, 1)
    if (typeof value === 'string') spendText(this.#L, value)
    if (value === undefined || value === null) return 'null'
    if (typeof value === 'string') return quote(value)
    if (typeof value === 'number') return this.#number(value)
    if (typeof value === 'boolean') return String(value)
    return value instanceof Table ? this.#table(value, depth + 1) : this.#refuse(value, 'type not supported')
  }

  #refuse(value: LuaValue, reason: string): never {
    return fail(this.#L, `Cannot serialise ${typeName(value)}: ${reason}`)
  }

  #number(value: number): string {
    if (!Number.isFinite(value)) {
      const mode = this.#settings.encodeInvalidNumbers
      if (mode === 0) this.#refuse(value, 'must not be NaN or Inf')
      if (mode === 2) return 'null'
      if (value !== value) return 'nan'
    }
    return formatGeneral(value, this.#settings.precision)
  }

  #table(table: Table, depth: number): string {
    if (depth > this.#settings.encodeMaxDepth) fail(this.#L, `Cannot serialise, excessive nesting (${depth})`)
    const length = this.#arrayLength(table)
    if (length <= 0) return this.#object(table, depth)
    const items: string[] = []
    for (let i = 1; i <= length; i++) items.push(this.encode(rawGet(this.#L, table, i), depth))
    return `[${items.join(',')}]`
  }

  #object(table: Table, depth: number): string {
    const items: string[] = []
    for (let pair = next(this.#L, table, undefined); pair; pair = next(this.#L, table, pair[0])) {
      const [key, value] = pair
      if (typeof key === 'number') items.push(`"${this.#number(key)}":${this.encode(value, depth)}`)
      else if (typeof key === 'string') items.push(`${quote(key)}:${this.encode(value, depth)}`)
      else this.#refuse(key, 'table key must be a number or string')
    }
    return `{${items.join(',')}}`
  }

  /** The highest index if all keys are indices; -1 if the table must become an object. */
  #arrayLength(table: Table): number {
    let highest = 0
    let items = 0
    for (let pair = next(this.#L, table, undefined); pair; pair = next(this.#L, table, pair[0])) {
      const key = pair[0]
      if (typeof key !== 'number' || !(key > 0) || Math.floor(key) !== key) return -1
      // The server keeps the index in an int, where a value that is too large becomes the lowest one.
      if (key > highest) highest = key > INT_MAX ? -INT_MAX - 1 : key
      items++
    }
    const { sparseRatio, sparseSafe, sparseConvert } = this.#settings
    if (sparseRatio > 0 && highest > items * sparseRatio && highest > sparseSafe) {
      if (sparseConvert === 0) this.#refuse(table, 'excessively sparse array')
      return -1
    }
    return highest
  }
}
