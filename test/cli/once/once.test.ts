import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { fakedOffset, faketime } from '../../suites/soak/faketime.js'
import { type Broken, onServer } from '../../support/server.js'
import { LINUX, nothingLeft, type Run, runs, type StartOptions, WORKS } from '../run/stage.js'

const starter =
  (broken: Broken) =>
  (args: readonly string[], options: StartOptions = {}): Run =>
    runs(broken)(['n', ...args], { command: 'once', ...options })

/** A process stands in a line for the slot. */
const somebodyWaits = ({ redis, until }: Broken): Promise<void> =>
  until(async () => (await redis.keys('holdfast_line*')).length > 0)

const TELL = ['sh', '-c', 'echo "$HOLDFAST_NAME|$HOLDFAST_SLOT|$HOLDFAST_TOKEN|$HOLDFAST_ATTEMPT|$HOLDFAST_OWNER"']

void describe('holdfast once', () => {
  onServer('three at once → one runs, the others skip with 0; and so does each that comes later', async (broken) => {
    const start = starter(broken)
    const command = ['sh', '-c', 'echo ran; sleep 1']
    const ended = await Promise.all(
      ['a', 'b', 'c'].map((label) => start(['--slot', 's', '--label', label, '--', ...command]).ended),
    )
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0, 0],
    )
    assert.equal(ended.map(({ out }) => out).join(''), 'ran\n')
    const skipped = ended.filter(({ out }) => out === '')
    for (const { error } of skipped)
      assert.match(error, /^holdfast: skipped 's': (?:it is running(?: \([abc]\))?|it has run already)\n$/)
    const later = await start(['--slot', 's', '--', ...command]).ended
    assert.deepEqual([later.code, later.out, later.error], [0, '', "holdfast: skipped 's': it has run already\n"])
    assert.equal((await start(['--slot', 't', '--', 'echo', 'ran']).ended).out, 'ran\n')
  })

  onServer('-q and -E → says nothing, and exits with another code', async (broken) => {
    const start = starter(broken)
    await start(['--slot', 's', '--', 'true']).ended
    const { code, out, error } = await start(['--slot', 's', '-q', '-E', '9', '--', 'echo', 'ran']).ended
    assert.deepEqual([code, out, error], [9, '', ''])
  })

  onServer('what the command learns', async (broken) => {
    const start = starter(broken)
    const env = { HOLDFAST_OWNER: 'outer', HOLDFAST_SLOT: 'outer', HOLDFAST_ATTEMPT: '7' }
    assert.equal((await start(['--slot', 's', '--', ...TELL], { env }).ended).out, 'n|s|1|1|\n')
    assert.equal((await start(['--slot', 't', '--', ...TELL], { env }).ended).out, 'n|t|2|1|\n')
    const minute = (await start(['--slot', 'minute', '--', ...TELL]).ended).out.split('|')[1] ?? ''
    assert.ok(Math.abs(Date.parse(minute) - Date.now()) < 90_000, minute)
    const slots = (await broken.open()).slots('n')
    assert.deepEqual([(await slots.inspect('t'))?.state, (await slots.inspect('t'))?.token], ['ran', 2n])
    assert.equal((await slots.inspect(minute))?.state, 'ran')
  })

  onServer('a command that fails → its exit code, and it has run', async (broken) => {
    const start = starter(broken)
    assert.equal((await start(['--slot', 's', '--retry', '5', '--', 'sh', '-c', 'exit 3']).ended).code, 3)
    const again = await start(['--slot', 's', '--retry', '5', '--', 'echo', 'ran']).ended
    assert.deepEqual([again.code, again.out], [0, ''])
    assert.equal(again.error, "holdfast: skipped 's': it has run already, and failed\n")
  })

  onServer(
    'a command that cannot be executed → 127, and with --retry another machine runs the slot',
    async (broken) => {
      const start = starter(broken)
      assert.equal((await start(['--slot', 't', '--', 'holdfast-no-such-command']).ended).code, 127)
      assert.equal((await (await broken.open()).slots('n').inspect('t'))?.state, 'crashed')
      const again = await start(['--slot', 't', '--retry', '1', '--', 'echo', 'ran']).ended
      assert.deepEqual([again.code, again.out], [0, 'ran\n'])
    },
  )

  onServer('killed in the middle → its command ends, and another takes over once its lease is over', async (broken) => {
    const start = starter(broken)
    const options = ['--slot', 's', '--retry', '1', '--lease', '2s', '--']
    const first = start([...options, ...WORKS])
    await first.said('ready')
    const family = first.family()
    const second = start([...options, ...TELL])
    const third = start([...options, ...TELL])
    first.kill('SIGKILL')
    const ended = await Promise.all([second.ended, third.ended])
    assert.deepEqual(ended.map(({ out }) => out).sort(), ['', 'n|s|2|2|\n'])
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0],
    )
    if (LINUX) await nothingLeft(first, family)
  })

  onServer('killed in the middle, without --retry → never again', async (broken) => {
    const start = starter(broken)
    const first = start(['--slot', 's', '--lease', '1s', '--', ...WORKS])
    await first.said('ready')
    first.kill('SIGKILL')
    const slots = (await broken.open()).slots('n')
    await broken.until(async () => (await slots.inspect('s'))?.state === 'crashed')
    const { code, out, error } = await start(['--slot', 's', '--', 'echo', 'ran']).ended
    assert.deepEqual([code, out], [0, ''])
    assert.equal(error, "holdfast: skipped 's': it was started already, and did not end\n")
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    onServer(`${signal} while the command runs → 128 + N, and another takes over at once`, async (broken) => {
      const start = starter(broken)
      const options = ['--slot', 's', '--retry', '1', '--lease', '60s', '--']
      const first = start([...options, ...WORKS])
      await first.said('ready')
      const second = start([...options, ...TELL])
      const slots = (await broken.open()).slots('n')
      await somebodyWaits(broken)
      first.kill(signal)
      assert.equal((await first.ended).code, signal === 'SIGTERM' ? 143 : 130)
      const { code, out, ms } = await second.ended
      assert.deepEqual([code, out], [0, 'n|s|2|2|\n'])
      assert.ok(ms < 30_000, `after ${ms} ms`)
      assert.equal((await slots.inspect('s'))?.state, 'ran')
      await nothingLeft(first)
    })

  onServer('SIGTERM that the command handles → its own exit code, and it has run', async (broken) => {
    const start = starter(broken)
    const run = start([
      '--slot',
      's',
      '--retry',
      '1',
      '--',
      'sh',
      '-c',
      'trap "exit 0" TERM; echo ready; sleep 60 & wait',
    ])
    await run.said('ready')
    run.kill('SIGTERM')
    assert.equal((await run.ended).code, 0)
    assert.match((await start(['--slot', 's', '--retry', '1', '--', 'echo']).ended).error, /it has run already\n$/)
  })

  onServer('SIGTERM while it waits for another → 143, and nothing was started', async (broken) => {
    const start = starter(broken)
    const first = start(['--slot', 's', '--', ...WORKS])
    await first.said('ready')
    const waits = start(['--slot', 's', '--retry', '1', '--', 'echo', 'ran'])
    await somebodyWaits(broken)
    waits.kill('SIGTERM')
    const { code, out } = await waits.ended
    assert.deepEqual([code, out], [143, ''])
  })

  onServer('the lock is lost → TERM before another takes over, 79', async (broken) => {
    const start = starter(broken)
    const options = ['--slot', 's', '--retry', '1', '--lease', '3s', '--']
    const cutOff = start([...options, ...WORKS], { url: broken.proxy.url })
    await cutOff.said('ready')
    broken.proxy.mute = true
    const family = cutOff.family()
    const next = await start([...options, ...TELL]).ended
    assert.equal(next.out, 'n|s|2|2|\n')
    broken.proxy.mute = false
    const { code, error } = await cutOff.ended
    assert.equal(code, 79)
    assert.match(error, /cannot keep 'n': ending the command/)
    assert.equal((await (await broken.open()).slots('n').inspect('s'))?.state, 'ran')
    if (LINUX) await nothingLeft(cutOff, family)
  })

  onServer('wrong clocks → the machines agree on the slot all the same', async (broken) => {
    const start = starter(broken)
    const clocks = faketime === undefined ? ['+0s', '+0s'] : ['+3600s', '-3600s', '+86400s', '+0s']
    const ended = await Promise.all(
      clocks.map((clock) => {
        const env = faketime === undefined ? {} : fakedOffset(clock)
        return start(['--every', '12h', '--', 'echo', 'ran'], { env }).ended
      }),
    )
    for (const { code, error } of ended) assert.equal(code, 0, error)
    assert.equal(ended.map(({ out }) => out).join(''), 'ran\n')
  })

  onServer('no server → 69; wrong usage → 64; a name too long → 64', async (broken) => {
    const start = starter(broken)
    assert.equal((await start(['--', 'echo']).ended).code, 64)
    assert.equal((await start(['--slot', 'x'.repeat(70_000), '--', 'echo']).ended).code, 64)
    await broken.server.stop()
    const { code, out } = await start(['--slot', 's', '--', 'echo', 'ran']).ended
    assert.deepEqual([code, out], [69, ''])
  })
})
