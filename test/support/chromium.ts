import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium } from 'playwright-core'
import { chromiumProgram } from '../../scripts/test/chromium.mjs'

/** A browser, or the reason why there is none. */
export const startChromium = async (): Promise<Browser | string> => {
  const executablePath = chromiumProgram()
  if (executablePath === undefined) return 'no chromium on the PATH'
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const send = (response: ServerResponse, file: string): void => {
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
  createReadStream(file).pipe(response)
}

export interface StaticServer {
  readonly url: string
  stop(): Promise<void>
}

/** Serves the files of a folder on this machine. */
export const serveFolder = async (folder: string): Promise<StaticServer> => {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname)
    const file = join(folder, path.endsWith('/') ? join(path, 'index.html') : path)
    if (existsSync(file) && statSync(file).isFile()) send(response, file)
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
