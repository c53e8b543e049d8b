import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Client } from 'holdfast'
import { onServer } from '../../support/server.js'

const run = promisify(execFile)
const page = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8')

/** The examples of the page that are marked so. */
const blocks = (mark: string): string[] =>
  [...page.matchAll(/^```(sh[^\n]*)\n(.*?)^```$/gms)].filter(([, is]) => is === mark).map(([, , text = '']) => text)

/** What an example prints, on the server at this port. */
const shown = async (text: string, port: string): Promise<string> => {
  // One of them writes a file, and removes it.
  const cwd = mkdtempSync(join(tmpdir(), 'holdfast-operations-'))
  try {
    const { stdout } = await run('bash', ['-ec', `redis-cli() { command redis-cli -p ${port} "$@"; }\n${text}`], {
      cwd,
      env: { ...process.env, TMPDIR: cwd },
    })
    assert.deepEqual(readdirSync(cwd), [])
    return stdout
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

/** The example, with this owner. */
const from = (text: string, owner: string): string => {
  const lines = text.replace(/^owner='.*'$/m, `owner='${owner}'`)
  assert.notEqual(lines, text)
  return lines
}

onServer(
  'docs/operations.md: its examples show the lock holder and the waiter, and free the lock',
  async ({ server, open, until, redis }) => {
    const { port } = new URL(server.url)
    const [holder, waiting] = [await open({ label: 'worker-7', watchdog: 3000 }), await open({ label: 'worker-8' })]
    const hold = await holder.lock('invoice:7').acquire()
    const next = waiting.lock('order:9').using(() => waiting.lock('invoice:7').acquire())
    await until(async () => (await holder.lock('invoice:7').inspect()).waiting.length === 1)

    const [whoHolds = '', label = '', line = '', redisson = '', waits = '', ...others] = blocks('sh')
    assert.deepEqual(others, [])
    const [type, owner = '', level, left] = (await shown(whoHolds, port)).split('\n')
    assert.deepEqual([type, owner.slice(0, 36), level], ['hash', holder.id, '1'])
    assert.equal(owner[14], '8')
    assert.ok(Number(left) > 0 && Number(left) <= 3000)
    const [of, text = '', alive] = (await shown(label, port)).split('\n')
    assert.equal(of, holder.id)
    assert.equal((JSON.parse(text) as { label: string }).label, 'worker-7')
    assert.ok(Number(alive) > 0)
    const [place = '', again, deadline, seconds] = (await shown(line, port)).split('\n')
    assert.equal(place.slice(0, 36), waiting.id)
    assert.equal(again, place)
    const rest = Number(deadline) / 1000 - Number(seconds)
    assert.ok(rest > 5 && rest < 12, `${rest} s`)
    assert.match(await shown(redisson, port), /redisson_lock__channel:\{invoice:7\}\n0/)
    const told = (): Promise<string> => shown(`client=${waiting.id}\n${waits}`, port)
    await until(async () => /"l":"invoice:7".*"h":\[\["order:9",\d+\]\]/.test(await told()))

    await redis.persist('invoice:7')
    await until(async () => (await redis.pttl('invoice:7')) > 0, 3000)
    const [find = ''] = blocks('sh find')
    const stuck = `invoice:7  held by: ${owner}   next: ${place}`
    let looked = false
    const healthy = [holder, waiting].map(async (client) => {
      while (!looked) await client.lock('order:10').using(() => sleep(20))
    })
    const found = await shown(find, port)
    looked = true
    await Promise.all(healthy)
    assert.deepEqual(found.split('\n'), [stuck, ''], 'not the lock that only changes hands')
    const [holds = ''] = blocks('sh holds')
    await until(async () => {
      const said = await shown(holds, port)
      return (
        said.split('\n').length === 3 &&
        /^lock invoice:7\t\{"h":\[.*"label":"worker-7"/m.test(said) &&
        /^lock invoice:7\t\{"w":\[.*"label":"worker-8"/m.test(said)
      )
    })

    const [force = ''] = blocks('sh force')
    assert.match(await shown(force, port), /^0\n/, 'another owner holds it')
    assert.ok(!hold.signal.aborted)
    assert.match(await shown(from(force, owner), port), /^1\n/)
    const freed = performance.now()
    await next
    assert.ok(performance.now() - freed < 2500, 'the first of the line has it within about a second')
    await until(() => hold.signal.aborted, 3000)
  },
)

for (const [mark, kind, take] of [
  ['fair', 'a fair lock', (client: Client) => client.fairLock('invoice:7')],
  ['rw', 'a read-write lock that is written', (client: Client) => client.readWriteLock('invoice:7').write],
  ['rw', 'a read-write lock that is read', (client: Client) => client.readWriteLock('invoice:7').read],
] as const) {
  onServer(
    `docs/operations.md: ${kind} is freed from its owner, and from no other`,
    async ({ server, open, until, redis }) => {
      const { port } = new URL(server.url)
      const [one, two] = [await open({ watchdog: 3000 }), await open()]
      const hold = await take(one).acquire()
      const waits = mark === 'rw' ? two.readWriteLock('invoice:7').write : two.fairLock('invoice:7')
      const next = waits.acquire()
      await until(async () => (await waits.inspect()).waiting.length === 1)
      const [text = ''] = blocks(`sh ${mark}`)
      const [owner = ''] = (await redis.hkeys('invoice:7')).filter((field) => field !== 'mode')
      assert.match(await shown(text, port), /^0\n/)
      assert.ok(!hold.signal.aborted)
      assert.match(await shown(from(text, owner), port), /^1\n/)
      const freed = performance.now()
      await next
      assert.ok(performance.now() - freed < 5000)
      await until(() => hold.signal.aborted, 5000)
    },
  )
}

onServer('docs/operations.md: permits that nobody has any more are added', async ({ server, open }) => {
  const { port } = new URL(server.url)
  const client = await open()
  const exports = client.semaphore('exports')
  await exports.trySetPermits(3)
  await exports.acquire({ permits: 3 })
  const next = exports.acquire({ permits: 3 })
  const [permits = ''] = blocks('sh permits')
  assert.match(await shown(permits, port), /^3\n/)
  await next
})
