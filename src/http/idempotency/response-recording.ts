import { type Answer, answerOf, type Field, isBodiless, isField } from './stored-answer-format.js'

/** The header fields of a response, by their names in lower case. */
export type Fields = ReadonlyMap<string, readonly string[]>

/** A failure of the server, or a request to come again: a retry runs the handler. */
const isRetried = (status: number): boolean => status >= 500 || [401, 408, 425, 429].includes(status)

/** An answer, as it is given. */
export class Recording {
  readonly #before: Fields
  readonly limit: number
  readonly #chunks: Uint8Array[] = []
  #size = 0
  #head: Omit<Answer, 'body'> | undefined

  /** `before`: the fields that were there before the handler ran. Each response has its own ones, so that they are not kept. */
  constructor(limit: number, before: Fields) {
    this.limit = limit
    this.#before = before
  }

  /** Only the first call counts: a response has one head. */
  begin(status: number, fields: Fields): void {
    if (this.#head !== undefined) return
    const kept = [...fields].flatMap(([name, values]) => this.#own(name, values))
    this.#head = { status, fields: kept }
    this.#count(kept.reduce((sum, [name, value]) => sum + name.length + value.length, 0))
  }

  add(bytes: Uint8Array): void {
    if (this.#count(bytes.length)) this.#chunks.push(bytes)
  }

  get isTooLarge(): boolean {
    return this.#size > this.limit
  }

  /** `retry`: nothing is to be kept. Undefined: the answer is not, but that there was one. */
  outcome(isWhole: boolean): Answer | 'retry' | undefined {
    if (this.#head === undefined || isRetried(this.#head.status)) return 'retry'
    if (!isWhole || this.isTooLarge) return undefined
    const { status, fields } = this.#head
    // Such a response has no body, whatever its handler wrote.
    return answerOf(status, fields, isBodiless(status) ? new Uint8Array() : Buffer.concat(this.#chunks))
  }

  #count(bytes: number): boolean {
    this.#size += bytes
    if (this.isTooLarge) this.#chunks.length = 0
    return !this.isTooLarge
  }

  #own(name: string, values: readonly string[]): Field[] {
    const before = this.#before.get(name) ?? []
    if (name !== 'set-cookie' && before.length === values.length && before.every((one, i) => one === values[i]))
      return []
    const own = name === 'set-cookie' ? values.filter((value) => !before.includes(value)) : values
    return own.filter((value) => isField(name, value)).map((value): Field => [name, value])
  }
}
