import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { recipe, type Running, soon } from './recipe.js'

const portOf = async (running: Running): Promise<string> => (await running.said(/listening on (\d+)/))[1] ?? ''

void test('events of one user at two processes → none lost, in the order of coming; another user does not wait', async (t) => {
  const here = await recipe(t, 'per-user.md')
  if (here === undefined) return
  const { client, folder } = here
  const ports = await Promise.all([1, 2].map(() => portOf(here.start('events.mjs', [], { PORT: '0' }))))
  const send = async (user: string, event: number): Promise<number> => {
    const url = `http://127.0.0.1:${ports[event % 2]}/users/${user}`
    return (await fetch(url, { method: 'POST', body: String(event) })).status
  }
  const eventsOf = async (user: string): Promise<string[]> =>
    (JSON.parse(await readFile(join(folder, 'users', `${user}.json`), 'utf8')) as { events: string[] }).events

  const lock = client.fairLock('user:ada')
  const hold = await lock.acquire()
  const sent: Promise<number>[] = []
  for (let event = 1; event <= 10; event += 1) {
    sent.push(send('ada', event))
    await soon(async () => (await lock.inspect()).waiting.length === event)
  }
  assert.equal(await send('bob', 1), 200)
  assert.deepEqual(await eventsOf('bob'), ['1'])
  await assert.rejects(eventsOf('ada'), /ENOENT/)
  await hold.release()
  assert.deepEqual(
    await Promise.all(sent),
    sent.map(() => 200),
  )
  assert.deepEqual(
    await eventsOf('ada'),
    sent.map((_, index) => String(index + 1)),
  )

  const crowd = Array.from({ length: 40 }, (_, index) => send('cleo', index))
  assert.deepEqual(new Set(await Promise.all(crowd)), new Set([200]))
  assert.equal((await eventsOf('cleo')).length, 40)
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
  assert.equal(await readFile(join(here.folder, 'users/ada.json'), 'utf8'), '{"events":["1"]}')
  running.kill('SIGTERM')
  assert.deepEqual(await running.ended, { code: null, signal: 'SIGTERM' })
})
