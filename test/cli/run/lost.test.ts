import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onServer } from '../../support/server.js'
import { DEAF, HEARS, marked, nothingLeft, runs, WORKS } from './stage.js'

/** Says on each tick what time it is, so that the test knows when it worked. */
const TICKS = `for (const s of ['SIGTERM']) process.on(s, () => console.log('heard ' + s + ' ' + Date.now()))
  setInterval(() => console.log('tick ' + Date.now()), 20); console.log('ready')`

const lastTick = (out: string): number => Number(/tick (\d+)\n(?!.*tick \d+\n)/s.exec(out)?.[1] ?? NaN)

void describe('holdfast run: the lock is lost', () => {
  onServer('released by force → the command is ended, 79; the next holder keeps the lock', async (broken) => {
    const run = runs(broken)(['l', '--lease', '3s', '--', ...WORKS])
    await run.said('ready')
    const family = run.family()
    const client = await broken.open()
    await client.lock('l').forceRelease()
    const hold = await client.lock('l').acquire({ wait: 0 })
    const { code, error } = await run.ended
    assert.equal(code, 79)
    assert.match(
      error,
      /^holdfast: cannot keep 'l': ending the command\nholdfast: the command ended with exit code 1\d\d, but 'l' was lost before\n$/,
    )
    await nothingLeft(run, family)
    assert.equal(hold.state, 'held')
    assert.equal(await client.lock('l').isLocked(), true)
  })

  onServer('released by force, --grace → TERM, and that long to put things in order', async (broken) => {
    const run = runs(broken)(['l', '--lease', '3s', '--grace', '900ms', '--', ...HEARS()])
    await run.said('ready')
    await (await broken.open()).lock('l').forceRelease()
    const { code, out, error } = await run.ended
    assert.equal(code, 79)
    assert.match(out, /heard SIGTERM/)
    assert.match(error, /exit code 7, but/)
  })

  onServer(
    'the server is away → TERM before the lease ends, KILL for one that ignores it, all before it could be given away',
    async (broken) => {
      const run = runs(broken)(['l', '--lease', '3s', '--', process.execPath, '-e', TICKS], { url: broken.proxy.url })
      await run.said('tick')
      const family = run.family()
      const client = await broken.open({ url: broken.server.url })
      // From now on, the server hears nothing: the lease was renewed a second ago at the most.
      const taken = client
        .lock('l')
        .acquire()
        .then(() => Date.now())
      Object.assign(broken.proxy, { mute: true, deaf: true })
      const { code, out } = await run.ended
      assert.equal(code, 79)
      const heard = Number(/heard SIGTERM (\d+)/.exec(out)?.[1])
      const last = lastTick(out)
      const next = await taken
      assert.ok(heard < last, 'it had no time after the TERM')
      assert.ok(last < next, `it worked for ${last - next} ms beside the next holder`)
      Object.assign(broken.proxy, { mute: false, deaf: false })
      await nothingLeft(run, family)
    },
  )

  onServer('the server is away for less than that → the command never learns of it', async (broken) => {
    const run = runs(broken)(['l', '--lease', '15s', '--', ...HEARS()], { url: broken.proxy.url })
    await run.said('ready')
    broken.proxy.cut()
    broken.proxy.mute = true
    await sleep(1200)
    broken.proxy.cut()
    broken.proxy.mute = false
    await sleep(8000)
    assert.equal(await broken.redis.exists('l'), 1)
    run.kill('SIGTERM')
    const { code, out } = await run.ended
    assert.deepEqual([code, out], [7, 'ready\nheard SIGTERM\n'])
  })

  onServer('--on-lost kill → no TERM', async (broken) => {
    const run = runs(broken)(['l', '--lease', '3s', '--on-lost', 'kill', '--', ...HEARS()])
    await run.said('ready')
    await (await broken.open()).lock('l').forceRelease()
    const { code, out, error } = await run.ended
    assert.deepEqual([code, out], [79, 'ready\n'])
    assert.match(error, /exit code 137, but/)
  })

  onServer('--on-lost ignore → it runs to its end, and the exit code is still 79', async (broken) => {
    const run = runs(broken)([
      'l',
      '--lease',
      '1s',
      '--on-lost',
      'ignore',
      '--',
      'sh',
      '-c',
      'echo ready; sleep 4; echo done',
    ])
    await run.said('ready')
    await (await broken.open()).lock('l').forceRelease()
    const { code, out, error } = await run.ended
    assert.deepEqual([code, out], [79, 'ready\ndone\n'])
    assert.match(
      error,
      /^holdfast: lost 'l': the command goes on[^\n]*\nholdfast: the command ended with exit code 0, but/,
    )
  })

  onServer(
    'this process stands still for longer than the lease → the guardian ends the command before',
    async (broken) => {
      const run = runs(broken)(['l', '--lease', '3s', '--', process.execPath, '-e', TICKS])
      await run.said('tick')
      const family = run.family()
      run.kill('SIGSTOP')
      const client = await broken.open()
      await client.lock('l').acquire()
      const taken = Date.now()
      const last = lastTick(run.out)
      assert.ok(last < taken, `it worked for ${last - taken} ms beside the next holder`)
      assert.match(run.out, /heard SIGTERM/)
      run.kill('SIGCONT')
      assert.equal((await run.ended).code, 79)
      await nothingLeft(run, family)
      assert.equal(await client.lock('l').isLocked(), true)
    },
  )

  onServer(
    'this process stands still, but goes on before the lease has ended → 79, not the signal of the guardian',
    async (broken) => {
      const run = runs(broken)(['l', '--lease', '6s', '--', ...WORKS])
      await run.said('ready')
      run.kill('SIGSTOP')
      // The guardian sends TERM about a second before the end.
      await broken.until(() => marked(run).length === 0, 6000)
      run.kill('SIGCONT')
      assert.equal((await run.ended).code, 79)
      await nothingLeft(run)
    },
  )

  onServer('both stand still → when they go on, the command is ended first', async (broken) => {
    const run = runs(broken)(['l', '--lease', '1s', '--', ...DEAF])
    await run.said('ready')
    const [family, guardian] = [run.family(), run.guardian()]
    run.kill('SIGSTOP')
    process.kill(guardian, 'SIGSTOP')
    await sleep(2000)
    run.kill('SIGCONT')
    const { code, ms } = await run.ended
    assert.equal(code, 79)
    assert.ok(ms < 10_000)
    await nothingLeft(run, family)
  })

  onServer('SIGTSTP for longer than the lease → ended while it stands still; 79 when it goes on', async (broken) => {
    const run = runs(broken)(['l', '--lease', '1s', '--', ...WORKS])
    await run.said('ready')
    const family = run.family()
    run.kill('SIGTSTP')
    await sleep(2500)
    run.kill('SIGCONT')
    assert.equal((await run.ended).code, 79)
    await nothingLeft(run, family)
  })
})
