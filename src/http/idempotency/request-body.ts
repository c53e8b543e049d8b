import { isA, kindOf } from '../../thrown.js'

/** Nothing tells two bodies apart that this process does not have. */
const UNKNOWN =
  'has a body that is not parsed: put the middleware behind the parser of the body, or pass a fingerprint() that tells two bodies apart'
/** As JSON, all of them are alike: a Map, for example. */
const OPAQUE = 'has a body of a kind that cannot be compared: pass a fingerprint() that tells two bodies apart'

type Http2Stream = { readonly endAfterHeaders?: unknown } | undefined

interface Request {
  readonly headers: Record<string, string | string[] | undefined>
  readonly body?: unknown
  /** Node's: somebody has read a part of the request, or has found its end. */
  readonly readableDidRead?: unknown
  readonly readableEnded?: unknown
  /** HTTP/2: whether no body follows the header fields. Fastify has Node's request in `raw`. */
  readonly stream?: Http2Stream
  readonly raw?: { readonly stream?: Http2Stream } | undefined
  /** The parsers of Express 4 set it. */
  readonly _body?: unknown
}

/** HTTP/2 has bodies without these fields, but says whether there is one. */
const announcesBody = ({ headers, stream, raw }: Request): boolean =>
  headers['transfer-encoding'] !== undefined ||
  Number(headers['content-length'] ?? 0) > 0 ||
  (stream ?? raw?.stream)?.endAfterHeaders === false

const isUpload = ({ headers }: Request): boolean => /^\s*multipart\//i.test(String(headers['content-type'] ?? ''))

const isRead = ({ _body, readableDidRead, readableEnded }: Request): boolean =>
  [_body, readableDidRead, readableEnded].includes(true)

/** Whether no parser has read the body. Express 4 gives `{}` to such a request; a parsed body may be `{}` as well. */
const isLeft = (request: Request, marksBodies: boolean): boolean => {
  const { body } = request
  if (body === undefined) return true
  const isEmpty = typeof body === 'object' && !ArrayBuffer.isView(body) && Object.keys(body ?? {}).length === 0
  return marksBodies && isEmpty && !Array.isArray(body) && !isRead(request)
}

const isStream = (body: unknown): boolean => typeof (body as { pipe?: unknown } | null | undefined)?.pipe === 'function'

/** The requester chose the body, so this is not an error of the application. */
export class NestedTooDeeply extends Error {
  override readonly name = 'NestedTooDeeply'
}

/** `JSON.parse` reads deeper levels than `JSON.stringify` writes. */
const textOf = (body: unknown): string => {
  try {
    return JSON.stringify(body)
  } catch (error) {
    if (isA(error, RangeError)) throw new NestedTooDeeply('the body is nested too deeply', { cause: error })
    throw error
  }
}

const jsonOf = (body: unknown): string => {
  const text = textOf(body)
  if (text === '{}' && kindOf(body as object) !== '[object Object]') throw new TypeError(`the request ${OPAQUE}`)
  return text
}

/** The body of a request whose framework has parsed it, as bytes or text that differ where two bodies do. `marksBodies`: for Express. */
export const parsedBody = (request: Request, marksBodies: boolean): string | Uint8Array => {
  const { body } = request
  const left = isLeft(request, marksBodies)
  if ((left || body === null) && !announcesBody(request) && !isUpload(request)) return ''
  if (left || isStream(body) || isUpload(request)) throw new TypeError(`the request ${UNKNOWN}`)
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return body
  return jsonOf(body)
}
