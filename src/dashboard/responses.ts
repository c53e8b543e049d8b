/** Headers of every answer: nothing but this origin's own script and style runs, and nobody frames the page. */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const

export interface Answered {
  readonly status?: number
  readonly type?: string
  readonly more?: Readonly<Record<string, string>>
}

export const answer = (
  body: string | ReadableStream<Uint8Array> | null,
  { status = 200, type = 'text/plain', more = {} }: Answered,
): Response =>
  new Response(body, { status, headers: { ...HEADERS, 'Content-Type': `${type}; charset=utf-8`, ...more } })

/** An answer that a person or the page's script reads. */
export const refusal = (status: number, text: string, more?: Answered['more']): Response =>
  answer(`${text}\n`, { status, ...(more !== undefined && { more }) })

export const json = (value: unknown, status = 200): Response =>
  answer(JSON.stringify(value), { status, type: 'application/json' })

/** What a request hears that may not act, or not even look. */
export const notAllowed = (leave: false | 'read'): Response =>
  leave === false
    ? refusal(403, 'You may not see this page.')
    : refusal(405, 'You may look, but not act.', { Allow: '' })
