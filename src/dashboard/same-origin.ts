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
