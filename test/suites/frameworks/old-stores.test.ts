import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type Client, connect } from 'holdfast'
import { expressRateLimitStore } from 'holdfast/stores'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { folderOf } from './installed.js'

type App = RequestListener & { use(handler: unknown): void }
const load = createRequire(`${folderOf('oldest')}/`)
const express = load('express') as () => App
const { rateLimit } = load('express-rate-limit') as { rateLimit(options: object): unknown }

let server: RedisServer
let client: Client
before(async () => {
  server = await startRedis()
  client = await connect(server.url)
})
after(async () => {
  await client.close()
  await server.stop()
})

const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
  const answer = await fetch(url, { headers })
  await answer.arrayBuffer()
  return answer.status
}
const countsOf = (all: readonly number[]): number[] => [200, 429].map((one) => all.filter((its) => its === one).length)

/** A server with express-rate-limit 7, until `body` is done. */
const withExpress = async (limit: object, body: (url: string) => Promise<void>): Promise<void> => {
  const app = express()
  const store = expressRateLimitStore({ client, name: 'old' })
  app.use(rateLimit({ windowMs: 60_000, keyGenerator: () => 'all', ...limit, store }))
  app.use((request: IncomingMessage, response: ServerResponse) => {
    response.statusCode = request.headers['x-fails'] === undefined ? 200 : 500
    response.end()
  })
  const http = createServer(app)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  try {
    await body(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
  } finally {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  }
}

void test('express-rate-limit 7: 40 at once → as many as the limit, whether it is called limit or max', async () => {
  for (const limit of [{ limit: 10 }, { max: 11 }])
    await withExpress(limit, async (url) => {
      const all = await Promise.all(Array.from({ length: 40 }, () => statusOf(url)))
      const most = Object.values(limit)[0]!
      assert.deepEqual(countsOf(all), [most, 40 - most])
    })
})

void test('express-rate-limit 7: a refused request that it takes back frees no permit', async () => {
  await withExpress({ limit: 2, skipFailedRequests: true }, async (url) => {
    for (let i = 0; i < 6; i++) assert.equal(await statusOf(url, { 'x-fails': 'yes' }), 500)
    for (let i = 0; i < 2; i++) assert.equal(await statusOf(url), 200)
    for (let i = 0; i < 10; i++) assert.equal(await statusOf(url), 429)
  })
})
