import { nextTick } from 'node:process'
import { types } from 'node:util'
import type { Fields, Recording } from './response-recording.js'
import type { HandlerRun } from './handler-run.js'

type Headers = Record<string, unknown>
type Call = (...args: unknown[]) => unknown

/** The part of Node's response that is used, of HTTP/1 and HTTP/2. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly req?: { readonly aborted?: boolean }
  readonly socket?: { readonly destroyed?: boolean } | null
  getHeader(name: string): unknown
  getHeaders(): Headers
  setHeader(name: string, value: string | readonly string[]): unknown
  removeHeader(name: string): unknown
  once(event: 'close', listener: () => void): unknown
  writeHead: Call
  write: Call
  end: Call
  destroy: Call
}

/** The methods that a response had. */
type Original = Pick<NodeResponse, 'writeHead' | 'write' | 'end' | 'destroy'>

export const fieldsOf = (headers: Headers): Fields =>
  new Map(
    Object.entries(headers)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.toLowerCase(), (Array.isArray(value) ? value : [value]).map(String)]),
  )

/** The fields of `writeHead`: an object, a list of pairs, or a flat list. */
const given = (headers: unknown): Fields => {
  if (!Array.isArray(headers)) return fieldsOf((headers ?? {}) as Headers)
  const flat: unknown[] = Array.isArray(headers[0]) ? headers.flat() : headers
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

const callbackIn = (args: readonly unknown[]): Call | undefined =>
  args.find((arg): arg is Call => typeof arg === 'function')

/** A response of Node, recorded. What throws is not. */
class RecordedResponse {
  readonly #response: NodeResponse
  readonly #original: Original
  readonly #run: HandlerRun
  readonly #recording: Recording
  /** What makes the body as long as `Content-Length` says. Its requester would have the whole answer, so it goes with the end. */
  readonly #held: Uint8Array[] = []
  #written = 0
  #ended = false
  #closed = false

  constructor(response: NodeResponse, run: HandlerRun, recording: Recording) {
    const { writeHead, write, end, destroy } = response
    this.#response = response
    this.#original = { writeHead, write, end, destroy }
    this.#run = run
    this.#recording = recording
  }

  patch(): void {
    const response = this.#response
    const get = (): unknown =>
      this.#ended || Reflect.get(Object.getPrototypeOf(response) as object, 'writableEnded', response)
    // Frameworks look here to see whether the handler has answered.
    Object.defineProperty(response, 'writableEnded', { configurable: true, get })
    response.once('close', () => (this.#closed = true))
    response.writeHead = (...args) => this.#writeHead(...args)
    response.write = (...args) => this.#write(...args)
    response.end = (...args) => this.#end(...args)
    response.destroy = (...args) => this.#destroy(...args)
  }

  #writeHead(status?: unknown, ...rest: readonly unknown[]): unknown {
    const response = this.#response
    const { writeHead } = this.#original
    const hasReason = typeof rest[0] === 'string'
    setAll(response, given(rest[hasReason || rest.length > 1 ? 1 : 0]))
    // Before the original, in which compression changes the fields: what is recorded is not compressed.
    const fields = fieldsOf(response.getHeaders())
    const result = hasReason ? writeHead.call(response, status, rest[0]) : writeHead.call(response, status)
    // Node takes text as well.
    this.#recording.begin(Math.trunc(Number(status)), fields)
    return result
  }

  #write(...args: readonly unknown[]): unknown {
    const response = this.#response
    const [chunk, encoding] = args
    if (this.#ended) return this.#refuse(callbackIn(args))
    // Node throws for everything else.
    const isChunk = typeof chunk === 'string' || types.isUint8Array(chunk)
    const bytes = isChunk ? bytesOf(chunk, encoding) : undefined
    if (bytes !== undefined && this.#completes(bytes)) return this.#hold(bytes, callbackIn(args))
    const result = this.#original.write.apply(response, [...args])
    if (bytes !== undefined) this.#add(bytes)
    return result
  }

  #end(...args: readonly unknown[]): unknown {
    const response = this.#response
    if (this.#ended) return response
    const [chunk, encoding] = args
    const last = isNothing(chunk) ? undefined : bytesOf(chunk, encoding)
    if (!response.headersSent) this.#sendHead(last?.length ?? 0)
    this.#ended = true
    // Somebody may have sent the head without `writeHead`.
    this.#recording.begin(response.statusCode, fieldsOf(response.getHeaders()))
    if (last !== undefined) this.#add(last)
    const rest = this.#held.length === 0 ? last : Buffer.concat([...this.#held, last ?? Buffer.alloc(0)])
    this.#run
      .finish()
      .then(() => this.#endNow(rest, callbackIn(args)))
      .catch((error: unknown) => response.destroy(error))
    return response
  }

  /** HTTP/2 calls `write` for the last part. */
  #endNow(rest: Uint8Array | undefined, done: Call | undefined): void {
    const response = this.#response
    const { write } = response
    response.write = this.#original.write
    try {
      this.#original.end.call(response, rest, done)
    } finally {
      response.write = write
    }
  }

  /** The handler breaks its answer off, because a stream fails for example. If the requester has left, the handler may still do its work. */
  #destroy(...args: readonly unknown[]): unknown {
    const { req, socket } = this.#response
    const hasLeft = this.#closed || req?.aborted === true || socket?.destroyed === true
    if (!hasLeft) this.#run.fail()
    return this.#original.destroy.apply(this.#response, [...args])
  }

  /** From now on the handler cannot change the fields any more, as behind any `end`. HTTP/1 sends them with the body. */
  #sendHead(length: number): void {
    const response = this.#response
    const { statusCode } = response
    // Only a body without a length can have trailers.
    const hasLength = ['content-length', 'transfer-encoding', 'trailer'].some(
      (name) => response.getHeader(name) !== undefined,
    )
    // Node cannot know the length once `end` is put off.
    const isOurs = !hasLength && statusCode !== 204 && statusCode !== 304
    if (isOurs) response.setHeader('content-length', String(length))
    try {
      response.writeHead(statusCode)
    } catch (error) {
      // Another answer follows, of another length.
      if (isOurs) response.removeHeader('content-length')
      throw error
    }
  }

  #add(bytes: Uint8Array): void {
    this.#written += bytes.length
    this.#recording.add(bytes)
  }

  /** Whether the body is whole with these bytes. Then only the end is to come. */
  #completes(bytes: Uint8Array): boolean {
    const length = this.#response.getHeader('content-length')
    return length !== undefined && this.#written + bytes.length >= Number(length)
  }

  #hold(bytes: Uint8Array, done: Call | undefined): boolean {
    const response = this.#response
    if (!response.headersSent) response.writeHead(response.statusCode)
    this.#held.push(bytes)
    this.#add(bytes)
    if (done !== undefined) nextTick(done)
    return true
  }

  /** Its end is put off, so that Node would send this before it. */
  #refuse(done: Call | undefined): boolean {
    const error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' })
    if (done !== undefined) nextTick(done, error)
    return false
  }
}

/** Records what a response is given, and puts its end off until it is kept: a requester that has the whole answer can rely on it. */
export const recordResponse = (response: NodeResponse, run: HandlerRun, before: Fields): void => {
  new RecordedResponse(response, run, run.record(before)).patch()
}
