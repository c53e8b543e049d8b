import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, connect, EngineError } from 'holdfast'
import { Redis } from 'ioredis'
import { createClient } from 'node-redis6'
import { rejection } from '../suites/contract/lock/kind.js'
import { freePort, startRedis } from '../support/redis-server.js'
import { onServer } from '../support/server.js'

/** Before the server is there. */
const LATE = 700

const isOffline = (error: unknown): void => {
  assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
}

const lasts = async (work: () => Promise<unknown>): Promise<readonly [outcome: unknown, ms: number]> => {
  const began = performance.now()
  return [await rejection(work()), performance.now() - began]
}

/** It takes what it is sent, and says nothing. */
const silent = async (): Promise<Server> => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

void describe('a client that comes before its server', { concurrency: 4 }, () => {
  test('retry: true → connected when the server is there, and told once why not before', async () => {
    const port = await freePort()
    const said: string[] = []
    const ignore = (): void => undefined
    const logger = { debug: ignore, info: ignore, error: ignore, warn: (text: string) => void said.push(text) }
    const connecting = connect({ url: `redis://127.0.0.1:${port}`, retry: true, logger })
    await sleep(LATE)
    const server = await startRedis(['--port', String(port)])
    const client = await connecting
    await client.lock('a').using(() => undefined)
    assert.equal((await client.health()).state, 'up')
    assert.equal(said.filter((text) => /^cannot connect to .*; retrying$/.test(text)).length, 1, said.join('\n'))
    await client.close()
    await server.stop()
  })

  test('without it, and with retry: false → rejects at once', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`
    for (const options of [{ url }, { url, retry: false }]) {
      const [error, ms] = await lasts(() => connect(options))
      isOffline(error)
      assert.ok(ms < 2000, `${ms} ms`)
    }
  })

  test('a timeout that is over → the last failure, in time; also where the server is silent', async () => {
    const timeout = 1000
    const nobody = await silent()
    const { port } = nobody.address() as { port: number }
    for (const at of [await freePort(), port]) {
      const [error, ms] = await lasts(() => connect({ url: `redis://127.0.0.1:${at}`, retry: { timeout } }))
      isOffline(error)
      assert.ok(ms > timeout - 100 && ms < timeout + 2500, `${ms} ms`)
    }
    nobody.close()
  })

  test('a signal → its reason at once: before the first try, within one, and between two', async () => {
    const nobody = await silent()
    const { port } = nobody.address() as { port: number }
    for (const [at, delay] of [[port, 0] as const, [port, 300] as const, [await freePort(), 600] as const]) {
      const giving = new AbortController()
      const give = (): void => {
        giving.abort('enough')
      }
      if (delay === 0) give()
      else setTimeout(give, delay)
      const { signal } = giving
      const [reason, ms] = await lasts(() => connect({ url: `redis://127.0.0.1:${at}`, retry: { signal } }))
      assert.equal(reason, 'enough')
      assert.ok(ms < delay + 2000, `${ms} ms`)
    }
    nobody.close()
  })

  onServer('what only another setting would mend → rejects at once all the same', async ({ server }) => {
    const bob = server.url.replace('//', '//bob:wrong@')
    for (const url of [bob, `${server.url}/99`, server.url.replace('redis:', 'rediss:')]) {
      const [error, ms] = await lasts(() => connect({ url, retry: true }))
      assert.ok(error instanceof EngineError || error instanceof ConfigError, String(error))
      assert.ok(ms < 5000, `${url}: ${ms} ms`)
    }
  })

  test('connections of ioredis and node-redis passed in → waited for, too', async () => {
    const port = await freePort()
    const ioredis = new Redis(port, '127.0.0.1')
    const node = createClient({ url: `redis://127.0.0.1:${port}` })
    for (const one of [ioredis, node]) one.on('error', () => undefined)
    const connecting = [ioredis, node].map((connection) => connect({ connection, connectTimeout: 500, retry: true }))
    await sleep(LATE)
    const server = await startRedis(['--port', String(port)])
    for (const client of await Promise.all(connecting)) {
      await client.lock('a').using(() => undefined)
      await client.close()
    }
    ioredis.disconnect()
    node.destroy()
    await server.stop()
  })

  test('options that cannot be → refused by name', async () => {
    for (const [retry, words] of [
      [1, /retry must be true, false or \{ timeout, signal \}/],
      [{ timeout: -1 }, /retry\.timeout/],
      [{ signal: 5 }, /retry\.signal/],
      [{ limit: 5 }, /no option 'limit'/],
    ] as const) {
      const error = await rejection(connect({ url: 'memory:', retry: retry as never }))
      assert.match(String(error), words)
    }
    const client = await connect({ url: 'memory:', retry: { timeout: 5 } })
    await client.close()
  })
})
