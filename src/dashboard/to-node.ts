import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { textOf } from '../thrown.js'
import type { DashboardHandler } from './dashboard.js'

/** What Express adds to a request. */
interface Mounted {
  readonly originalUrl?: string
  readonly baseUrl?: string
  /** Set if a parser of the app has read the body. */
  readonly body?: unknown
}

type NodeRequest = IncomingMessage & Mounted

const headersOf = ({ headersDistinct }: NodeRequest): Headers => {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value)
  return headers
}

async function* bodyOf(request: NodeRequest): AsyncGenerator<Uint8Array> {
  if (request.readableEnded) yield Buffer.from(JSON.stringify(request.body ?? null))
  else for await (const chunk of request) yield chunk as Uint8Array
}

const requestOf = (request: NodeRequest): Request => {
  const { method = 'GET', headers, originalUrl, url = '/' } = request
  // A path that begins with two slashes must not become a host, and a backslash not a slash.
  const address = new URL(`http://${headers.host ?? 'localhost'}`)
  const target = (originalUrl ?? url).replaceAll('\\', '%5C')
  const asked = /^(GET|HEAD)$/i.test(method)
    ? {}
    : { body: ReadableStream.from(bodyOf(request)), duplex: 'half' as const }
  return new Request(`${address.origin}${target.startsWith('/') ? target : '/'}`, {
    ...asked,
    method,
    headers: headersOf(request),
  })
}

/** Waits for a slow reader, so that what it has not read yet stays in the stream, which is bounded. */
const send = async (response: Response, to: ServerResponse): Promise<void> => {
  to.writeHead(response.status, Object.fromEntries(response.headers))
  to.flushHeaders()
  const reader = response.body?.getReader()
  const closed = new AbortController()
  const leave = (): void => {
    closed.abort()
    reader?.cancel().catch(() => undefined)
  }
  to.once('close', leave)
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    if (!to.write(next.value)) await once(to, 'drain', { signal: closed.signal }).catch(() => undefined)
  }
  to.off('close', leave)
  to.end()
}

/** An answer before the end of the body: the rest is not read. */
const cutOff = (request: NodeRequest, to: ServerResponse): void => {
  if (request.complete) return
  to.setHeader('Connection', 'close')
  to.once('finish', () => request.destroy())
}

/**
 * The handler for `node:http`, Express and everything else that passes on the requests of Node: `createServer(toNode(handler))`, `app.use('/locks', toNode(handler))`.
 */
export const toNode =
  (handler: DashboardHandler) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { baseUrl } = request as NodeRequest
    try {
      const answer = await handler(requestOf(request), baseUrl === undefined ? undefined : { base: baseUrl })
      // Meanwhile the other side may have gone away, or a time limit of the app may have answered.
      if (response.destroyed || response.headersSent) return await answer.body?.cancel()
      cutOff(request, response)
      await send(answer, response)
    } catch (error) {
      if (!response.headersSent) response.writeHead(400, { 'Content-Type': 'text/plain; charset=utf-8' })
      response.end(`${textOf(error)}\n`)
    }
  }
