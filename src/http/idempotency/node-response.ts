import type { Fields, Recording } from './recording.js'
import type { Run } from './run.js'

type Headers = Record<string, unknown>
type Call = (...args: unknown[]) => unknown

/** The part of Node's response that is used, of HTTP/1 and HTTP/2. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  getHeader(name: string): unknown
  getHeaders(): Headers
  setHeader(name: string, value: string | readonly string[]): unknown
  writeHead: Call
  write: Call
  end: Call
}

/** A response as it is patched: its own methods call those that it had. */
type Patched = Pick<NodeResponse, 'writeHead' | 'write' | 'end'>

export const fieldsOf = (headers: Headers): Fields =>
  new Map(
    Object.entries(headers)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.toLowerCase(), (Array.isArray(value) ? value : [value]).map(String)]),
  )

/** The fields of `writeHead`: an object, a list of pairs, or a flat list. */
const given = (headers: unknown): Fields => {
  if (!Array.isArray(headers)) return fieldsOf((headers ?? {}) as Headers)
  const flat: unknown[] = headers.flat()
  const fields = new Map<string, string[]>()
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = String(flat[i]).toLowerCase()
    const value = flat[i + 1]
    fields.set(name, [...(fields.get(name) ?? []), ...(Array.isArray(value) ? value : [value]).map(String)])
  }
  return fields
}

const setAll = (response: NodeResponse, fields: Fields): void => {
  for (const [name, values] of fields) response.setHeader(name, values.length === 1 ? (values[0] as string) : values)
}

const bytesOf = (chunk: unknown, encoding: unknown): Uint8Array =>
  typeof chunk === 'string'
    ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
    : // A copy: the caller may use its buffer again.
      Buffer.from(chunk as Uint8Array)

const isNothing = (chunk: unknown): boolean => chunk === undefined || chunk === null || typeof chunk === 'function'

/** Without these, Node cannot know the length once `end` is put off. */
const setLength = (response: NodeResponse, length: number): void => {
  const { statusCode } = response
  if (statusCode === 204 || statusCode === 304) return
  if (response.getHeader('content-length') !== undefined || response.getHeader('transfer-encoding') !== undefined)
    return
  response.setHeader('content-length', String(length))
}

const patchedHead = (response: NodeResponse, recording: Recording, { writeHead }: Patched): Call => {
  return (status, ...rest) => {
    const hasReason = typeof rest[0] === 'string'
    response.statusCode = status as number
    setAll(response, given(rest[hasReason || rest.length > 1 ? 1 : 0]))
    // Before the original, in which compression changes the fields: what is recorded is not compressed.
    recording.begin(response.statusCode, fieldsOf(response.getHeaders()))
    return hasReason ? writeHead.call(response, status, rest[0]) : writeHead.call(response, status)
  }
}

const patchedEnd = (response: NodeResponse, recording: Recording, { end }: Patched, run: Run): Call => {
  let ended = false
  const get = (): unknown => ended || Reflect.get(Object.getPrototypeOf(response) as object, 'writableEnded', response)
  // Frameworks look here to see whether the handler has answered.
  Object.defineProperty(response, 'writableEnded', { configurable: true, get })
  return (...args) => {
    if (ended) return response
    const [chunk, encoding] = args
    const last = isNothing(chunk) ? undefined : bytesOf(chunk, encoding)
    if (!response.headersSent) {
      if (!recording.began) setLength(response, last?.length ?? 0)
      // Nothing is sent yet. But from now on the handler cannot change the fields any more, as behind any `end`.
      response.writeHead(response.statusCode)
    }
    ended = true
    if (last !== undefined) recording.add(last)
    const done = args.find((arg) => typeof arg === 'function')
    void run.finish().then(() => end.call(response, last, done))
    return response
  }
}

/** Records what a response is given, and puts its end off until it is kept: a requester that has the whole answer can rely on it. */
export const recordResponse = (response: NodeResponse, run: Run, before: Fields): void => {
  const recording = run.record(before)
  const { writeHead, write, end } = response
  const original = { writeHead, write, end }
  response.writeHead = patchedHead(response, recording, original)
  response.write = (...args) => {
    recording.begin(response.statusCode, fieldsOf(response.getHeaders()))
    if (!isNothing(args[0])) recording.add(bytesOf(args[0], args[1]))
    return write.apply(response, args)
  }
  response.end = patchedEnd(response, recording, original, run)
}
