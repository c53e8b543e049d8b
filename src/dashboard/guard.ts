/** Whether a page of another site may have caused the request. A browser says so itself, and a page cannot change what it says. */
export const fromElsewhere = (request: Request): boolean => {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = request.headers.get('origin')
  return origin !== null && !isSameHost(origin, request)
}

/** Whether this origin's own page sent it: unlike above, silence does not count. */
export const fromOwnPage = (request: Request): boolean => {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = request.headers.get('origin')
  return origin !== null && isSameHost(origin, request)
}

const isSameHost = (origin: string, request: Request): boolean => {
  try {
    return new URL(origin).host === new URL(request.url).host
  } catch {
    return false
  }
}

/** Bytes. */
const LONGEST_BODY = 4096

/** The body as text; undefined: it is too long. At most one chunk beyond the limit is read. */
export const bodyOf = async (request: Request): Promise<string | undefined> => {
  if (Number(request.headers.get('content-length') ?? 0) > LONGEST_BODY) return undefined
  const chunks: Uint8Array[] = []
  let length = 0
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = request.body?.getReader()
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    length += next.value.byteLength
    if (length > LONGEST_BODY) {
      await reader?.cancel()
      return undefined
    }
    chunks.push(next.value)
  }
  return Buffer.concat(chunks).toString('utf8')
}
