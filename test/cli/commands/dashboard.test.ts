import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { request } from 'node:http'
import { hostsOf } from '#src/cli/dashboard/local.js'
import { onServer } from '../../support/server.js'
import { holdfast, MAIN } from './stage.js'

const statusOf = async (base: string, headers: Record<string, string>): Promise<number> => {
  const sent = request(`${base}state`, { headers }).end()
  const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }]
  response.resume()
  return response.statusCode
}

void describe('holdfast dashboard', () => {
  for (const args of [['--port', 'x'], ['--port', '70000'], ['--port', ''], ['more']]) {
    void test(`wrong usage: ${args.join(' ')} → 64`, async () => {
      const { code, error } = await holdfast(['dashboard', ...args], { url: 'redis://127.0.0.1:1' })
      assert.equal(code, 64)
      assert.match(error, /Usage: holdfast dashboard/)
    })
  }

  onServer(
    'prints an address; only its token opens it, and only by this name; Ctrl-C ends it with 130',
    async (broken) => {
      const env = { ...process.env, HOLDFAST_URL: broken.server.url, REDIS_URL: '' }
      const child = spawn(process.execPath, [MAIN, 'dashboard', '--port', '0'], { env })
      broken.after(() => child.kill('SIGKILL'))
      let out = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
      await broken.until(() => out.includes('\n'), 30_000)
      const [, base = '', token = ''] =
        /^(http:\/\/127\.0\.0\.1:\d+\/)\?token=([\w-]{32})\n$/.exec(out) ?? assert.fail(out)

      assert.equal(await statusOf(base, {}), 403)
      const wrong = await fetch(`${base}?token=${token.slice(1)}x`, { redirect: 'manual' })
      assert.equal(wrong.status, 403)
      const entered = await fetch(base + `?token=${token}`, { redirect: 'manual' })
      const path = entered.headers.get('location') ?? ''
      assert.equal(entered.status, 302)
      assert.match(path, /^\/[\w-]{22}\/$/)
      const cookie = entered.headers.get('set-cookie') ?? ''
      // Other programs that listen on this host do not know the path, so the browser sends them no cookie.
      assert.ok(cookie.endsWith(`; HttpOnly; SameSite=Strict; Path=${path}`), cookie)
      const [known = ''] = cookie.split(';')
      const below = new URL(path, base).href
      assert.equal(await statusOf(below, { cookie: known }), 200)
      assert.equal(await statusOf(below, { cookie: known, host: 'evil.example' }), 403)
      assert.equal(await statusOf(below, { cookie: `${known.slice(0, -1)}x` }), 403)
      assert.equal(await statusOf(base, { cookie: known }), 404)

      child.kill('SIGINT')
      assert.deepEqual(await once(child, 'exit'), [130, null])
    },
  )

  void test('a browser leaves out port 80', () => {
    assert.deepEqual(hostsOf(80), ['127.0.0.1', 'localhost'])
    assert.deepEqual(hostsOf(7420), ['127.0.0.1:7420', 'localhost:7420'])
  })

  onServer('a port that is taken → 1', async (broken) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    broken.after(() => taken.close())
    const { port } = taken.address() as AddressInfo
    const { code, error } = await holdfast(['dashboard', '-p', `${port}`], { url: broken.server.url })
    assert.equal(code, 1)
    assert.match(error, /is taken/)
  })
})
