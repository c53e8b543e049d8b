import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onServer } from '../../support/server.js'
import { DEAF, HEARS, marked, nothingLeft, runs, WORKS } from './stage.js'

const safely = <T>(step: () => T): T | undefined => {
  try {
    return step()
  } catch {
    return undefined
  }
}

/** As many, each with a child of its own. */
const BOMB = ['sh', '-c', 'for i in $(seq 50); do sh -c "sleep 1000; :" & done; echo ready; wait']

void describe('holdfast run: whatever is killed', () => {
  for (const [what, command] of [
    ['a command', HEARS()],
    ['a command that ignores TERM', DEAF],
    ['fifty processes', BOMB],
  ] as const)
    onServer(
      `SIGKILL of holdfast run, over ${what} → nothing is left; the lock ends with its lease`,
      async (broken) => {
        const run = runs(broken)(['l', '--lease', '3s', '--grace', '500ms', '--', ...command])
        await run.said('ready')
        await sleep(100)
        const family = run.family()
        run.kill('SIGKILL')
        await nothingLeft(run, family)
        await broken.until(async () => (await broken.redis.exists('l')) === 0)
      },
    )

  onServer('SIGKILL of holdfast run, at any moment from the start on → nothing is left', async (broken) => {
    const start = runs(broken)
    for (let delay = 40; delay <= 440; delay += 20) {
      const run = start([`l${delay}`, '--lease', '1s', '--', ...WORKS])
      await sleep(delay)
      const family = run.family()
      run.kill('SIGKILL')
      await nothingLeft(run, family)
    }
  })

  onServer('SIGKILL while it waits → nothing was started, nothing is left', async (broken) => {
    const client = await broken.open()
    const hold = await client.lock('l').acquire()
    const run = runs(broken)(['l', '--', 'echo', 'started'])
    await broken.until(async () => (await client.lock('l').inspect()).waiting.length === 1)
    const family = run.family()
    run.kill('SIGKILL')
    assert.equal((await run.ended).out, '')
    await hold.release()
    await nothingLeft(run, family)
  })

  onServer('SIGKILL of the command → 137, and what it started is ended as well', async (broken) => {
    const run = runs(broken)(['l', '--', 'sh', '-c', 'echo $$; sleep 1000 & echo ready; wait'])
    await run.said('ready')
    const family = run.family()
    process.kill(Number(/^\d+/.exec(run.out)?.[0]), 'SIGKILL')
    assert.equal((await run.ended).code, 137)
    await nothingLeft(run, family)
    assert.equal(await broken.redis.exists('l'), 0)
  })

  onServer('SIGKILL of the guardian → another one takes its place, and does its work', async (broken) => {
    const run = runs(broken)(['l', '--lease', '3s', '--', ...WORKS])
    await run.said('ready')
    const first = run.guardian()
    process.kill(first, 'SIGKILL')
    await broken.until(() => ![undefined, first].includes(safely(() => run.guardian())))
    // It has to hear its orders first.
    await sleep(1000)
    const family = run.family()
    run.kill('SIGKILL')
    await nothingLeft(run, family)
  })

  onServer('TERM to every process of it at once, as a supervisor does → ended, released', async (broken) => {
    const run = runs(broken)(['l', '--', ...BOMB])
    await run.said('ready')
    const family = run.family()
    for (const { pid } of [...family, run]) safely(() => process.kill(pid, 'SIGTERM'))
    assert.equal((await run.ended).code, 143)
    await nothingLeft(run, family)
    assert.equal(await broken.redis.exists('l'), 0)
  })

  onServer('processes that the command leaves behind → ended before the lock is released', async (broken) => {
    const run = runs(broken)(['l', '--', 'sh', '-c', 'sleep 1000 & echo ready; exit 3'])
    await run.said('ready')
    await sleep(300)
    assert.equal(await broken.redis.exists('l'), 1, 'it was released beside them')
    const { code, error } = await run.ended
    assert.equal(code, 3)
    assert.match(error, /ending them/)
    await nothingLeft(run)
    assert.equal(await broken.redis.exists('l'), 0)
  })

  onServer('one that only needs a moment → it has it, and no signal', async (broken) => {
    const command = '(sleep 0.3; echo last words) & exit 0'
    const { code, out, error } = await runs(broken)(['l', '--', 'sh', '-c', command]).ended
    assert.deepEqual([code, out, error], [0, 'last words\n', ''])
  })

  onServer('one that ignores TERM → KILL after the grace', async (broken) => {
    const command = '(trap "" TERM; while :; do sleep 0.1; done) & exit 0'
    const { code, ms } = await runs(broken)(['l', '--grace', '300ms', '--', 'sh', '-c', command]).ended
    assert.equal(code, 0)
    assert.ok(ms < 5000, `it took ${ms} ms`)
  })

  onServer('one that has left the group by itself → it stays: a daemon', async (broken) => {
    const run = runs(broken)(['l', '--', 'sh', '-c', 'setsid sleep 3 >/dev/null 2>&1 & exit 0'])
    assert.equal((await run.ended).code, 0)
    assert.equal(marked(run).length, 1)
    assert.equal(await broken.redis.exists('l'), 0)
  })

  onServer('the reader of its output ends → the command’s own affair', async (broken) => {
    const run = runs(broken)(['l', '--', 'sh', '-c', 'echo ready; sleep 0.5; while echo x; do :; done; exit 4'])
    await run.said('ready')
    run.child.stdout?.destroy()
    const { code } = await run.ended
    // The shell is ended by SIGPIPE, or says that it cannot write.
    assert.ok(code === 141 || code === 4, String(code))
    await nothingLeft(run)
    assert.equal(await broken.redis.exists('l'), 0)
  })
})
