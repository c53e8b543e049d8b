import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Recipe, recipe, type Running, soon } from './recipe.js'

const portOf = async (running: Running): Promise<string> => (await running.said(/listening on (\d+)/))[1] ?? ''

const eventsOf = async ({ client }: Recipe, user: string): Promise<string[]> => {
  const script = client.script(`return redis.call('HGET', KEYS[1], 'events') or '[]'`)
  return JSON.parse((await script.run({ keys: [`state:${user}`], args: [], returns: 'status' })) ?? '[]') as string[]
}

void test('events of one user at two processes → none lost, in the order of coming; another user does not wait', async (t) => {
  const here = await recipe(t, 'per-user.md')
  if (here === undefined) return
  const { client } = here
  const ports = await Promise.all([1, 2].map(() => portOf(here.start('events.mjs', [], { PORT: '0' }))))
  const send = async (user: string, event: number): Promise<number> => {
    const url = `http://127.0.0.1:${ports[event % 2]}/users/${user}`
    return (await fetch(url, { method: 'POST', body: String(event) })).status
  }
  const lock = client.fairLock('user:ada')
  const hold = await lock.acquire()
  const sent: Promise<number>[] = []
  for (let event = 1; event <= 10; event += 1) {
    sent.push(send('ada', event))
    await soon(async () => (await lock.inspect()).waiting.length === event)
  }
  assert.equal(await send('bob', 1), 200)
  assert.deepEqual(await eventsOf(here, 'bob'), ['1'])
  assert.deepEqual(await eventsOf(here, 'ada'), [])
  await hold.release()
  assert.deepEqual(
    await Promise.all(sent),
    sent.map(() => 200),
  )
  assert.deepEqual(
    await eventsOf(here, 'ada'),
    sent.map((_, index) => String(index + 1)),
  )

  const crowd = Array.from({ length: 40 }, (_, index) => send('cleo', index))
  assert.deepEqual(new Set(await Promise.all(crowd)), new Set([200]))
  assert.equal((await eventsOf(here, 'cleo')).length, 40)
})

void test('a process is paused before its write, and another one writes meanwhile → the late write is refused', async (t) => {
  const here = await recipe(t, 'per-user.md')
  if (here === undefined) return
  const file = join(here.folder, 'events.mjs')
  const program = await readFile(file, 'utf8')
  const look = 'signal.throwIfAborted()'
  assert.ok(program.includes(look))
  const pause = `if (event === 'late') { console.log('pausing'); process.kill(process.pid, 'SIGSTOP') }`
  await writeFile(file, program.replace(look, pause))
  const [paused, other] = [1, 2].map(() => here.start('events.mjs', [], { PORT: '0' })) as [Running, Running]
  const send = async (to: Running, event: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${await portOf(to)}/users/ada`, { method: 'POST', body: event })).status
  const late = send(paused, 'late')
  await paused.said(/pausing/)
  assert.equal(await here.client.fairLock('user:ada').forceRelease(), true)
  assert.equal(await send(other, 'new'), 200)
  paused.kill('SIGCONT')
  assert.equal(await late, 500)
  assert.match(paused.text(), /another one has written/)
  assert.deepEqual(await eventsOf(here, 'ada'), ['new'])
})

void test('a client hangs up in the middle of its event, another sends too much → the process serves on; SIGTERM → it ends', async (t) => {
  const here = await recipe(t, 'per-user.md')
  if (here === undefined) return
  const running = here.start('events.mjs', [], { PORT: '0' })
  const port = await portOf(running)
  const post = async (body: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/users/ada`, { method: 'POST', body })).status

  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => undefined).resume()
  socket.end('POST /users/ada HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\n12')
  await running.said(/aborted/)
  assert.equal(await post('x'.repeat(10_001)), 413)
  assert.equal(await post('1'), 200)
  assert.deepEqual(await eventsOf(here, 'ada'), ['1'])
  running.kill('SIGTERM')
  assert.deepEqual(await running.ended, { code: null, signal: 'SIGTERM' })
})
