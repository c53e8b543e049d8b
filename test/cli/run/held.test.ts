import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'holdfast'
import { onServer } from '../../support/server.js'
import { MAIN, marked, nothingLeft, runs, WORKS } from './stage.js'

const KINDS: readonly (readonly [args: readonly string[], isLocked: (client: Client) => Promise<boolean>])[] = [
  [['l'], (client) => client.lock('l').isLocked()],
  [['l', '--kind', 'fair'], (client) => client.fairLock('l').isLocked()],
  [['l', '--kind', 'fenced'], (client) => client.fencedLock('l').isLocked()],
  [['l', '--kind', 'read'], (client) => client.readWriteLock('l').read.isLocked()],
  [['l', '--kind', 'write'], (client) => client.readWriteLock('l').write.isLocked()],
  [['l', '--kind', 'keyed:a,b'], (client) => client.keyedLock('l', ['b']).isLocked()],
  [['l', 'm', '--kind', 'multi'], (client) => client.lock('m').isLocked()],
  [['l', '--kind', 'semaphore:1'], async (client) => (await client.permitSemaphore('l').available()) === 0],
]

/** Prints what its environment says about the lock, in a fixed order. */
const TELL = ['sh', '-c', 'echo "$HOLDFAST_NAME|$HOLDFAST_OWNER|$HOLDFAST_TOKEN|$HOLDFAST_TICKET"']

void describe('holdfast run: the lock is held while the command runs', () => {
  for (const [args, isLocked] of KINDS)
    onServer(`${args.join(' ')} → held, renewed, and released when the command has ended`, async (broken) => {
      const client = await broken.open()
      const run = runs(broken)([...args, '--lease', '2s', '--', ...WORKS])
      await run.said('ready')
      await sleep(4500)
      assert.ok(await isLocked(client), 'it was not renewed')
      run.kill('SIGTERM')
      const { code, error } = await run.ended
      assert.deepEqual([code, error], [143, ''])
      assert.ok(!(await isLocked(client)), 'it was not released')
      await nothingLeft(run)
    })

  onServer('what the command learns: name, owner, token', async (broken) => {
    const start = runs(broken)
    const told = async (...args: string[]): Promise<string[]> => {
      const { out, code, error } = await start([...args, '--', ...TELL], {
        env: { HOLDFAST_TICKET: 'of an outer run' },
      }).ended
      assert.equal(code, 0, error)
      return out.trim().split('|')
    }
    const owner = /^[0-9a-f-]{36}:\d+$/
    const [name, by, token, ticket] = await told('orders')
    assert.deepEqual([name, token, ticket], ['orders', '', ''])
    assert.match(by ?? '', owner)
    assert.deepEqual((await told('f', '--kind', 'fenced')).slice(2), ['1', ''])
    assert.deepEqual((await told('f', '--kind', 'fenced')).slice(2), ['2', ''])
    assert.deepEqual(await told('a', 'b', '--kind', 'multi'), ['a, b', '', '', ''])
    assert.match((await told('s', '--kind', 'semaphore:2'))[1] ?? '', /^[0-9a-f]{32}$/)
  })

  onServer('variables that a shell has no name for → the command gets them as well', async (broken) => {
    const odd = { 'spring.url': "it's a $VALUE\n=", 'x-y': '', 'BASH_FUNC_f%%': '() { :; }', IFS: ':' }
    const shows = `console.log(JSON.stringify(process.env))`
    const { out, error, code } = await runs(broken)(['l', '--', process.execPath, '-e', shows], { env: odd }).ended
    assert.equal(code, 0, error)
    const seen = JSON.parse(out) as Record<string, string>
    for (const [name, value] of Object.entries(odd)) assert.equal(seen[name], value, name)
    assert.equal(seen['PATH'], process.env['PATH'])
    const missing = await runs(broken)(['l', '--', 'holdfast-no-such-command'], { env: odd }).ended
    assert.equal(missing.code, 127)
  })

  onServer('the owner that it learns is the lock holder’s, with its label', async (broken) => {
    const run = runs(broken)(['l', '--label', 'nightly job', '--', 'sh', '-c', 'echo "$HOLDFAST_OWNER"; exec sleep 60'])
    await run.said('\n')
    const client = await broken.open()
    const [holder] = (await client.lock('l').inspect()).holders
    assert.deepEqual([holder?.owner, holder?.label], [run.out.trim(), 'nightly job'])
  })

  onServer('--ticket → the command adopts the hold; if it does not, the lock is free afterwards', async (broken) => {
    const start = runs(broken)
    const adopt = `import { connect } from 'holdfast'
      const client = await connect()
      const hold = await client.adopt(process.env.HOLDFAST_TICKET)
      console.log(hold.name, hold.state)
      await client.close()`
    const command = [process.execPath, '--input-type=module', '-e', adopt]
    const adopted = await start(['l', '--ticket', '--', ...command]).ended
    assert.deepEqual([adopted.code, adopted.out], [0, 'l held\n'], adopted.error)
    const ignored = await start(['l', '--ticket', '--', 'true']).ended
    assert.equal(ignored.code, 0)
    assert.equal(await broken.redis.exists('l'), 0)
  })

  onServer('ten at once → one after the other; a semaphore of three lets in three', async (broken) => {
    const start = runs(broken)
    const { redis } = broken
    const script = `import { Redis } from 'ioredis'
      const redis = new Redis(process.env.HOLDFAST_URL)
      const inside = await redis.incr('inside')
      await redis.zadd('seen', inside, inside)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await redis.decr('inside')
      redis.disconnect()`
    const command = [process.execPath, '--input-type=module', '-e', script]
    const many = async (args: readonly string[], most: number): Promise<void> => {
      await redis.del('inside', 'seen')
      const ended = await Promise.all(Array.from({ length: 10 }, () => start([...args, '--', ...command]).ended))
      for (const { code, error } of ended) assert.equal(code, 0, error)
      assert.ok((await redis.zcard('seen')) <= most)
    }
    await many(['l'], 1)
    await many(['l', '--kind', 'fair'], 1)
    await many(['s', '--kind', 'semaphore:3'], 3)
  })

  onServer('100 MB on stdin → all of it reaches the command', async (broken) => {
    const run = runs(broken)(['l', '--', 'wc', '-c'], { stdin: 'pipe' })
    const stdin = run.child.stdin ?? assert.fail('no stdin')
    const block = Buffer.alloc(1_000_000, 'x')
    for (let i = 0; i < 100; i++) {
      if (!stdin.write(block)) await new Promise((resolve) => stdin.once('drain', resolve))
    }
    stdin.end()
    const { code, out } = await run.ended
    assert.deepEqual([code, out.trim()], [0, '100000000'])
  })

  onServer('much output into a slow reader → nothing is lost, and the lock is kept', async (broken) => {
    const run = runs(broken)([
      'l',
      '--lease',
      '2s',
      '--',
      'sh',
      '-c',
      'head -c 5000000 /dev/zero; head -c 1000000 /dev/zero >&2',
    ])
    run.child.stdout?.pause()
    run.child.stderr?.pause()
    await sleep(5000)
    run.child.stdout?.resume()
    run.child.stderr?.resume()
    const { code, out, error } = await run.ended
    assert.deepEqual([code, out.length, error.length], [0, 5_000_000, 1_000_000])
  })

  onServer('a run within a run, of another lock → both are held; its ends are in order', async (broken) => {
    const inner = [process.execPath, MAIN, 'run', 'inner', '--', ...WORKS]
    const run = runs(broken)(['outer', '--', ...inner])
    await run.said('ready')
    assert.equal(await broken.redis.exists('outer', 'inner'), 2)
    run.kill('SIGTERM')
    assert.equal((await run.ended).code, 143)
    assert.equal(await broken.redis.exists('outer', 'inner'), 0)
    await nothingLeft(run)
    assert.deepEqual(marked(run), [])
  })
})
