import { isUtf8 } from 'node:buffer'
import type { Codec } from '../../api/codec.js'

/** A header field, with its name in lower case. A name may come several times. */
export type Field = readonly [name: string, value: string]

/** What a request is answered with. */
export interface Answer {
  readonly status: number
  readonly fields: readonly Field[]
  readonly body: Uint8Array
}

/** What the server keeps for a key. */
export interface Kept {
  /** What the request was; another request must not get its answer. */
  readonly fingerprint: string
  /** Undefined: the request was answered, but its answer is not kept. */
  readonly answer: Answer | undefined
}

const VERSION = 1
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** They belong to one connection, or to one moment, and not to the answer. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te', 'trailer'],
  ...['content-length', 'date'],
])

/** Whether the field can be part of an answer. Nothing that is not belongs into a response: a line break would begin another one. */
export const isField = (name: unknown, value: unknown): boolean =>
  typeof name === 'string' && typeof value === 'string' && NAME.test(name) && VALUE.test(value) && !NOT_KEPT.has(name)

const isStatus = (status: unknown): status is number =>
  Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599

/** These have no body, and a response that had one would be an error. */
export const isBodiless = (status: number): boolean => status === 204 || status === 205 || status === 304

const fieldsOf = (list: unknown): readonly Field[] | undefined => {
  if (!Array.isArray(list)) return undefined
  const isOne = (field: unknown): field is Field =>
    Array.isArray(field) && field.length === 2 && isField(field[0], field[1])
  return list.every(isOne) ? list : undefined
}

/** An answer that can be sent again, or undefined. What is written must pass as well, because it could not be read. */
export const answerOf = (status: unknown, list: unknown, body: Uint8Array): Answer | undefined => {
  const fields = fieldsOf(list)
  if (!isStatus(status) || fields === undefined || (isBodiless(status) && body.length > 0)) return undefined
  return { status, fields, body }
}

const read = (data: Uint8Array): Kept | undefined => {
  const end = data.indexOf(10)
  const head = JSON.parse(Buffer.from(data.subarray(0, Math.max(0, end))).toString()) as Record<string, unknown>
  const { v, fingerprint, status, fields: list } = head
  if (v !== VERSION || typeof fingerprint !== 'string') return undefined
  if (status === undefined) return { fingerprint, answer: undefined }
  const answer = answerOf(status, list, data.subarray(end + 1))
  return answer === undefined ? undefined : { fingerprint, answer }
}

/** A line of JSON, and the bytes of the body behind it. */
export const answers: Codec = {
  encode(value) {
    const { fingerprint, answer } = value as Kept
    const { status, fields, body = new Uint8Array() } = answer ?? {}
    const head = `${JSON.stringify({ v: VERSION, fingerprint, status, fields })}\n`
    // As text, because bytes need a third more room on the server.
    return isUtf8(body) ? head + Buffer.from(body).toString() : Buffer.concat([Buffer.from(head), body])
  },
  /** Undefined for everything that another program, or another version, may have written. */
  decode(data) {
    try {
      return read(data)
    } catch {
      return undefined
    }
  },
}
