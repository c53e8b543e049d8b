/** Nothing tells two bodies apart that this process does not have. */
const UNKNOWN =
  'has a body that is not parsed: put the middleware behind the parser of the body, or pass a fingerprint() that tells two bodies apart'

interface Request {
  readonly headers: Record<string, string | string[] | undefined>
  readonly body?: unknown
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const isUpload = ({ headers }: Request): boolean => /^\s*multipart\//i.test(String(headers['content-type'] ?? ''))

/** Express 4 gives `{}` to a request whose body no parser has read; its parsers leave a mark. */
const isLeft = (request: Request): boolean => {
  const { body } = request
  if (body === undefined || body === null) return true
  const isEmpty = typeof body === 'object' && !ArrayBuffer.isView(body) && Object.keys(body).length === 0
  return isEmpty && !Array.isArray(body) && (request as { _body?: unknown })._body !== true
}

const isStream = (body: unknown): boolean => typeof (body as { pipe?: unknown } | null | undefined)?.pipe === 'function'

/** The body of a request whose framework has parsed it, as bytes or text that differ where two bodies do. */
export const parsedBody = (request: Request, marksBodies: boolean): string | Uint8Array => {
  const { body } = request
  if (!hasBody(request)) return ''
  const isMissing = marksBodies ? isLeft(request) : body === undefined
  if (isMissing || isStream(body) || isUpload(request)) throw new TypeError(`the request ${UNKNOWN}`)
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return body
  return JSON.stringify(body)
}
