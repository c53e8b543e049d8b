import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expressIdempotency } from 'holdfast/idempotency'
import type { Settings } from './frameworks.js'
import { type Asked, post } from './stage.js'

export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Node's own server behind Express's middleware. `outer` runs before it. */
export const nodeServer = async (
  settings: Settings,
  handler: Handler,
  body: (ask: (asked?: Asked) => Promise<Response>) => Promise<void>,
  outer: Handler = () => undefined,
): Promise<void> => {
  const middleware = expressIdempotency({ scope: () => 'all', ...settings })
  const server = createServer((request, response) => {
    outer(request, response)
    const asked = Object.assign(request, { originalUrl: request.url ?? '', method: 'POST', body: 'parsed' })
    middleware(asked, response, (error) => {
      if (error === undefined) handler(request, response)
      else response.writeHead(500).end(error instanceof Error ? error.message : 'not an Error')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await body((asked) => post(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked))
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
