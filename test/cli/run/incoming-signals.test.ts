import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onServer } from '../../support/server.js'
import { DEAF, HEARS, LINUX, marked, nothingLeft, runs, WORKS } from './stage.js'

const CODES = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const
const ENDING = Object.keys(CODES) as (keyof typeof CODES)[]

void describe('holdfast run: signals', () => {
  for (const signal of ENDING)
    onServer(
      `${signal} while the command runs → it gets it, with all that it started; the lock is free`,
      async (broken) => {
        // The shell does not pass it on: the grandchild has it from nobody but `run`.
        const nested = ['sh', '-c', 'sh -c "echo ready; while :; do sleep 0.1; done" & wait']
        const run = runs(broken)(['l', '--', ...nested])
        await run.said('ready')
        const family = run.family()
        // A shell without job control lets its background processes ignore SIGINT and SIGQUIT; what is left of them is ended afterwards.
        run.kill(signal)
        assert.equal((await run.ended).code, CODES[signal])
        await nothingLeft(run, family)
        assert.equal(await broken.redis.exists('l'), 0)
      },
    )

  onServer('signals that the command handles → it goes on, and its own exit code counts', async (broken) => {
    const run = runs(broken)(['l', '--', ...HEARS()])
    await run.said('ready')
    for (const signal of [
      'SIGHUP',
      'SIGINT',
      'SIGQUIT',
      'SIGUSR1',
      'SIGUSR2',
      'SIGALRM',
      'SIGWINCH',
      'SIGCONT',
    ] as const) {
      run.kill(signal)
      await run.said(`heard ${signal}`)
    }
    run.kill('SIGTERM')
    const { code, out } = await run.ended
    assert.equal(code, 7)
    for (const line of new Set(out.trim().split('\n'))) assert.equal(out.split(line).length, 2, `twice: ${line}`)
  })

  onServer('SIGUSR1 → the command alone, not what is around it', async (broken) => {
    const run = runs(broken)([
      'l',
      '--',
      'sh',
      '-c',
      'trap "echo heard" USR1; sleep 1000 & echo ready; wait; kill -0 $! && exit 9',
    ])
    await run.said('ready')
    run.kill('SIGUSR1')
    assert.equal((await run.ended).code, 9)
    await nothingLeft(run)
  })

  for (const signal of [...ENDING, 'SIGUSR1', 'SIGALRM'] as const)
    onServer(`${signal} while waiting → given up, 128 + N, nothing started, no place in the line`, async (broken) => {
      const client = await broken.open()
      const hold = await client.lock('l').acquire()
      const run = runs(broken)(['l', '--', 'echo', 'started'])
      await broken.until(async () => (await client.lock('l').inspect()).waiting.length === 1)
      const family = run.family()
      run.kill(signal)
      const { code, out, error } = await run.ended
      const expected = { ...CODES, SIGUSR1: 138, SIGALRM: 142 }[signal]
      if (LINUX) assert.equal(code, expected)
      assert.deepEqual([out, error], ['', ''])
      assert.deepEqual((await client.lock('l').inspect()).waiting, [])
      await hold.release()
      await nothingLeft(run, family)
    })

  onServer('a signal at any moment from the start on → never a command after it, nothing left', async (broken) => {
    const start = runs(broken)
    for (let delay = 0; delay <= 400; delay += 20) {
      const run = start(['l', '--', 'sh', '-c', 'echo started; exec sleep 1000'])
      await sleep(delay)
      run.kill('SIGTERM')
      const { code, signal, ms } = await run.ended
      // Node itself may not listen yet.
      assert.ok(code === 143 || signal === 'SIGTERM', `${delay}: ${code} ${signal}`)
      assert.ok(ms < delay + 4000, `it took ${ms} ms`)
      await nothingLeft(run)
    }
    await broken.until(async () => (await broken.redis.exists('l')) === 0, 35_000)
  })

  onServer('a signal while it connects to a server that does not answer → ended at once', async (broken) => {
    broken.proxy.mute = true
    const run = runs(broken)(['l', '--', 'echo', 'started'], { url: broken.proxy.url })
    // Before it connects it listens to signals.
    await broken.until(() => broken.proxy.accepted > 0)
    const since = performance.now()
    run.kill('SIGTERM')
    const { code, out } = await run.ended
    const ms = performance.now() - since
    assert.deepEqual([code, out], [143, ''])
    assert.ok(ms < 3000, `it took ${ms} ms`)
    await nothingLeft(run)
  })

  onServer('a second signal while it gives up, and the server does not answer → ended at once', async (broken) => {
    const client = await broken.open({ url: broken.server.url })
    await client.lock('l').acquire()
    const run = runs(broken)(['l', '--', 'echo', 'started'], { url: broken.proxy.url })
    await broken.until(async () => (await client.lock('l').inspect()).waiting.length === 1)
    broken.proxy.mute = true
    run.child.kill('SIGINT')
    await sleep(200)
    run.child.kill('SIGINT')
    const since = performance.now()
    const { code, out } = await run.ended
    assert.deepEqual([code, out], [130, ''])
    assert.ok(performance.now() - since < 1000)
    await nothingLeft(run)
  })

  onServer('Ctrl-C twice, without a terminal → both are passed on', async (broken) => {
    const command = `let times = 0
      process.on('SIGINT', () => { console.log('heard ' + ++times); if (times === 2) process.exit(5) })
      setInterval(() => undefined, 1000); console.log('ready')`
    const run = runs(broken)(['l', '--', process.execPath, '-e', command])
    await run.said('ready')
    run.kill('SIGINT')
    await run.said('heard 1')
    run.kill('SIGINT')
    assert.equal((await run.ended).code, 5)
  })

  onServer('TERM to a command that ignores it → it goes on, and keeps the lock; KILL ends both', async (broken) => {
    const run = runs(broken)(['l', '--lease', '2s', '--grace', '300ms', '--', ...DEAF])
    await run.said('ready')
    const family = run.family()
    run.kill('SIGTERM')
    await sleep(4500)
    assert.equal(run.child.exitCode, null)
    assert.equal(await broken.redis.exists('l'), 1)
    run.kill('SIGKILL')
    await nothingLeft(run, family)
    await broken.until(async () => (await broken.redis.exists('l')) === 0)
  })

  onServer('SIGTSTP → the command stands still, too; SIGCONT → both go on, with the lock', async (broken) => {
    const run = runs(broken)(['l', '--', 'sh', '-c', 'echo ready; while :; do echo tick; sleep 0.05; done'])
    await run.said('tick')
    run.kill('SIGTSTP')
    await sleep(300)
    const before = run.out.length
    await sleep(500)
    assert.equal(run.out.length, before, 'it went on')
    run.kill('SIGCONT')
    await broken.until(() => run.out.length > before + 20)
    assert.equal(await broken.redis.exists('l'), 1)
    run.kill('SIGTERM')
    assert.equal((await run.ended).code, 143)
    await nothingLeft(run)
  })

  onServer('nohup around the command → a hangup does not end it', async (broken) => {
    const run = runs(broken)(['l', '--', 'nohup', ...WORKS])
    await run.said('ready')
    run.kill('SIGHUP')
    await sleep(1000)
    assert.equal(run.child.exitCode, null)
    assert.ok(marked(run).length > 0)
    assert.equal(await broken.redis.exists('l'), 1)
    run.kill('SIGTERM')
    assert.equal((await run.ended).code, 143)
  })
})
