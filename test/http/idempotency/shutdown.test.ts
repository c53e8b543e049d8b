import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

const page = readFileSync(new URL('../../../../docs/idempotency.md', import.meta.url), 'utf8')
const code = /```js\n(import express from[^]*?)```/.exec(page)?.[1] ?? ''

const begin = async (program: string, server: RedisServer): Promise<{ child: ChildProcess; port: number }> => {
  const env = { ...process.env, PORT: '0', HOLDFAST_URL: server.url }
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, port: Number(/\d+/.exec(line)?.[0]) }
}

const pay = (port: number, key: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/payments`, {
    method: 'POST',
    headers: { 'idempotency-key': key, 'content-type': 'application/json' },
    body: '{"amount":10}',
    signal: signal ?? null,
  })

/** A requester that leaves before its answer. */
const payAndLeave = (port: number, key: string): (() => void) => {
  const headers = { 'idempotency-key': key, 'content-type': 'application/json' }
  const request = httpRequest({ port, host: '127.0.0.1', path: '/payments', method: 'POST', headers })
  request.on('error', () => undefined).end('{"amount":10}')
  return () => request.destroy()
}

void test('docs/idempotency.md: SIGTERM while requests run → they are answered, all answers are kept, and the process ends by itself', async (t) => {
  assert.notEqual(code, '')
  let server = undefined as unknown as RedisServer
  const reason = await started({ ...redisEngine, start: async () => void (server = await startRedis()) })
  if (reason !== undefined) {
    t.skip(reason)
    return
  }
  const program = fileURLToPath(new URL(`example-${process.pid}-shutdown.mjs`, import.meta.url))
  writeFileSync(program, code)
  const redis = new Redis(server.url)
  const running = async (): Promise<number> => (await redis.keys('*:flight-lock:*')).length
  const children: ChildProcess[] = []
  try {
    const first = await begin(program, server)
    children.push(first.child)
    const answer = pay(first.port, 'stays')
    const leave = payAndLeave(first.port, 'leaves')
    await until(async () => (await running()) === 2)
    leave()
    first.child.kill('SIGTERM')
    const paid = await answer
    assert.deepEqual([paid.status, await paid.json()], [201, { paid: 10 }])
    const [exit, signal] = (await once(first.child, 'exit')) as [number | null, string | null]
    assert.deepEqual([exit, signal, await running()], [0, null, 0])
    const second = await begin(program, server)
    children.push(second.child)
    for (const key of ['stays', 'leaves']) {
      const again = await pay(second.port, key)
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'], key)
      await again.arrayBuffer()
    }
  } finally {
    rmSync(program)
    redis.disconnect()
    for (const child of children) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    await server.stop()
  }
})
