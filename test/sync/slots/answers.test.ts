import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slotsClaim, slotsFinish, slotsLook, slotsSkip } from '#src/lua/scripts.gen.js'
import { SlotRecord } from '#src/sync/slots/slot-record.js'
import { ClosedError, LockLostError, type SlotRun } from 'holdfast'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { stage as lineStage } from '../../support/line-stage.js'
import { onStage, type Stage } from '../../support/stage.js'
import { SwitchedDriver } from '../../support/switched-driver.js'
import type { ScriptRunner } from '#src/core/protocol/script-runner.js'
import type { Reply } from '#src/lua/values.js'

const KEYS = ['{o}:slot:x', '{o}:slots:token', '{o}:slots:last']

/** The server knows the scripts: what it is asked for, it does when it is asked. */
const warm = async ({ client, raw, run }: Stage): Promise<void> => {
  await run(client.slots('warm').run('x', () => 1))
  raw('DEL', '{warm}:slot:x', '{warm}:slots:token')
}

for (const loss of ['request', 'answer', 'late'] as const) {
  onStage(`the ${loss} of a claim is lost → asked again: it runs once, as its first attempt`, async (stage) => {
    await warm(stage)
    const { client, driver, run, raw } = stage
    const runs: SlotRun[] = []
    driver.loseNext(loss, slotsClaim.sha)
    const running = client.slots('o').run('x', { retry: 1 }, (it) => void runs.push(it))
    const result = await run(running)
    assert.equal(result.outcome, 'ran')
    assert.deepEqual([runs.length, runs[0]?.attempt], [1, 1])
    await driver.comeLate()
    const state = await run(client.slots('o').inspect('x'))
    assert.deepEqual([state?.state, state?.attempt], ['ran', 1])
    raw('DEL', ...KEYS)
  })

  onStage(`the ${loss} of the end of a run is lost → told again: it ran`, async (stage) => {
    await warm(stage)
    const { client, driver, run, raw } = stage
    driver.loseNext(loss, slotsFinish.sha)
    const result = await run(client.slots('o').run('x', () => 7))
    assert.ok(result.outcome === 'ran' && result.value === 7)
    assert.equal((await run(client.slots('o').inspect('x')))?.state, 'ran')
    raw('DEL', ...KEYS)
  })
}

onStage('the answer of a skip is lost → asked again: it is this call that skipped it', async (stage) => {
  await warm(stage)
  const { client, driver, run, raw } = stage
  driver.loseNext('answer', slotsSkip.sha)
  assert.equal(await run(client.slots('o').skip('x')), true)
  raw('DEL', ...KEYS)
})

onStage('nothing of a takeover is answered → the attempt before it is still known', async (stage) => {
  await warm(stage)
  const { client, driver, clock, run, raw } = stage
  const other = '00000000-0000-4000-8000-000000000000'
  raw('HSET', '{o}:slot:x', 'state', 'running', 'run', `${other}:1`, 'attempt', 1, 'token', 1, 'began', 1)
  driver.loses = (words) => (words.some((word) => word.includes(slotsClaim.sha)) ? 'answer' : undefined)
  const running = client.slots('o').run('x', { retry: 1, lease: 5000 }, () => assert.fail())
  const failed = assert.rejects(running, { code: 'NO_REPLY' })
  await clock.advance(62_000)
  driver.loses = () => undefined
  await run(failed)
  await clock.advance(5000)
  const state = await run(client.slots('o').inspect('x'))
  assert.deepEqual([state?.state, state?.attempt, state?.by.client], ['crashed', 1, other])
  const again = await run(client.slots('o').run('x', { retry: 1 }, ({ attempt }) => attempt))
  assert.ok(again.outcome === 'ran' && again.value === 2)
  raw('DEL', ...KEYS)
})

onStage('stopped while its claim is under way → rejects, nothing has run, and another may', async (stage) => {
  await warm(stage)
  const { client, driver, run, raw } = stage
  const stop = new AbortController()
  driver.loses = (words) => {
    if (words.some((word) => word.includes(slotsClaim.sha))) stop.abort(new Error('stopped'))
    return undefined
  }
  await run(
    assert.rejects(
      client.slots('o').run('x', { signal: stop.signal }, () => assert.fail()),
      /stopped/,
    ),
  )
  assert.equal((await run(client.slots('o').run('x', () => 1))).outcome, 'ran')
  raw('DEL', ...KEYS)
})

onStage(
  'stopped while its claim gets no answer → rejects with the reason, long before the lease ends',
  async (stage) => {
    await warm(stage)
    const { client, clock, driver, run, raw } = stage
    const stop = new AbortController()
    driver.loses = (words) => (words.some((word) => word.includes(slotsClaim.sha)) ? 'request' : undefined)
    const running = client.slots('o').run('x', { signal: stop.signal }, () => assert.fail())
    const failed = assert.rejects(running, /stopped/)
    await clock.advance(2000)
    stop.abort(new Error('stopped'))
    const began = clock.now()
    await run(failed)
    assert.ok(clock.now() - began < 1500, `${clock.now() - began} ms`)
    driver.loses = () => undefined
    await clock.advance(5000)
    assert.equal((await run(client.slots('o').run('x', () => 1))).outcome, 'ran')
    raw('DEL', ...KEYS)
  },
)

onStage('a claim that is not permitted → rejects at once', async (stage) => {
  await warm(stage)
  const { client, driver, clock, run } = stage
  const send = driver.send.bind(driver)
  driver.send = (argv, options) =>
    argv.some((word) => String(word).includes(slotsClaim.sha)) ? refused() : send(argv, options)
  const refused = (): Promise<Reply> => Promise.reject(new Error('NOPERM this user has no permissions'))
  const began = clock.now()
  await run(
    assert.rejects(
      client.slots('o').run('x', () => assert.fail()),
      { code: 'NOPERM' },
    ),
  )
  assert.ok(clock.now() - began < 1000)
})

void test('a claim is answered when its lock is lost → rejects, and its work has not begun', async () => {
  const { clock, clients, drivers, raw, pause, run } = await lineStage(1)
  const client = clients[0]!
  const driver = drivers[0]!
  await run(client.slots('o').run('warm', () => 1))
  const send = driver.send.bind(driver)
  driver.send = async (argv, options) => {
    const reply = await send(argv, options)
    if (argv.some((word) => String(word).includes(slotsClaim.sha))) await pause(1500)
    return reply
  }
  const running = client.slots('o').run('x', { lease: 1000 }, () => assert.fail('it began'))
  const lost = assert.rejects(running, { code: 'LOCK_LOST' })
  await clock.advance(100)
  await raw('DEL', '{o}:slot-lock:x')
  await run(lost)
  await clock.advance(100)
  assert.equal(await run(client.slots('o').inspect('x')), undefined)
  await run(client.close())
})

void test('slots of many names → the newest tokens of the last 1,000 are remembered', async () => {
  const newest = new Map<string, bigint>()
  const runner = { take: () => Promise.resolve(['7', 1]) } as unknown as ScriptRunner
  for (let i = 0; i < 1500; i++)
    await new SlotRecord(runner, { key: `n${i}`, slot: 'x', due: undefined, run: 'r', kept: 1000, newest }).claim(
      'o',
      1,
    )
  assert.equal(newest.size, 1000)
  assert.equal(newest.get('n1499'), 7n)
})

onStage('nothing of a claim is answered → rejects, nothing has run, and another time it may', async (stage) => {
  await warm(stage)
  const { client, driver, clock, run, raw } = stage
  driver.loses = (words) => (words.some((word) => word.includes(slotsClaim.sha)) ? 'answer' : undefined)
  const running = client.slots('o').run('x', { lease: 5000 }, () => assert.fail())
  const failed = assert.rejects(running, { code: 'NO_REPLY' })
  await clock.advance(62_000)
  driver.loses = () => undefined
  await run(failed)
  await clock.advance(5000)
  assert.equal(await run(client.slots('o').inspect('x')), undefined)
  const again = await run(client.slots('o').run('x', () => 7))
  assert.equal(again.outcome, 'ran')
  raw('DEL', ...KEYS)
})

onStage(
  'what nobody answers is asked before anything is claimed → rejects, and no key is left',
  async ({ client, driver, run }) => {
    driver.loses = (words) => (words.some((word) => word.includes(slotsLook.sha)) ? 'request' : undefined)
    await run(
      assert.rejects(
        client.slots('o').run('x', () => assert.fail()),
        { code: 'NO_REPLY' },
      ),
    )
  },
)

const isEnd = (words: readonly string[]): boolean => words.some((word) => word.includes(slotsFinish.sha))

onStage(
  'nothing of the end of a run is answered → it ran, in seconds; nobody runs it before it is stored',
  async (stage) => {
    await warm(stage)
    const { client, driver, clock, run, raw } = stage
    driver.loses = (words) => (isEnd(words) ? 'request' : undefined)
    const began = clock.monotonic()
    const result = await run(client.slots('o').run('x', () => 7))
    assert.ok(result.outcome === 'ran' && result.value === 7)
    assert.ok(clock.monotonic() - began <= 1600, `${clock.monotonic() - began} ms`)
    assert.deepEqual([raw('EXISTS', '{o}:slot-lock:x'), raw('HGET', '{o}:slot:x', 'state')], [1, 'running'])
    driver.loses = () => undefined
    await clock.advance(2000)
    assert.deepEqual([raw('EXISTS', '{o}:slot-lock:x'), raw('HGET', '{o}:slot:x', 'state')], [0, 'ran'])
    raw('DEL', ...KEYS)
  },
)

onStage(
  'the client closes while the end of a run is not stored → it is stored, and the lock freed after that',
  async (stage) => {
    await warm(stage)
    const { clock, run, raw, server } = stage
    const closing = new SwitchedDriver(new MemoryDriver(server, 'closing'))
    const client = await stage.other(closing)
    closing.loses = (words) => (isEnd(words) ? 'request' : undefined)
    const running = client.slots('o').run('x', () => 7)
    await clock.advance(100)
    const closed = client.close()
    await clock.advance(100)
    assert.deepEqual([raw('EXISTS', '{o}:slot-lock:x'), raw('HGET', '{o}:slot:x', 'state')], [1, 'running'])
    closing.loses = () => undefined
    assert.equal((await run(running)).outcome, 'ran')
    await run(closed)
    assert.deepEqual([raw('EXISTS', '{o}:slot-lock:x'), raw('HGET', '{o}:slot:x', 'state')], [0, 'ran'])
    raw('DEL', ...KEYS)
  },
)

onStage('its client has closed without a drain before the work returns → failed, and it says why', async (stage) => {
  await warm(stage)
  const { run, raw, server } = stage
  const client = await stage.other(new SwitchedDriver(new MemoryDriver(server, 'closing')))
  let end!: (value: number) => void
  const running = client.slots('o').run('x', () => new Promise<number>((resolve) => (end = resolve)))
  await stage.clock.advance(100)
  await run(client.close())
  end(7)
  const result = await run(running)
  assert.ok(result.outcome === 'failed' && result.error instanceof ClosedError)
  assert.equal(raw('HGET', '{o}:slot:x', 'state'), 'running')
  raw('DEL', ...KEYS)
})

onStage('its lease is over before its end is stored → failed, with what it returned', async (stage) => {
  await warm(stage)
  const { client, driver, clock, run, raw } = stage
  const running = client.slots('o').run('x', { lease: 1000 }, () => {
    raw('DEL', '{o}:slot-lock:x')
    driver.loses = (words) => (isEnd(words) ? 'request' : undefined)
    return 7
  })
  await clock.advance(1600)
  const result = await run(running)
  assert.ok(result.outcome === 'failed' && result.error instanceof LockLostError)
  assert.match(result.error.message, /its lease ended before its end was stored/)
  assert.equal(result.error.result, 7)
  driver.loses = () => undefined
  await clock.advance(2000)
  raw('DEL', ...KEYS)
})

onStage('another claims the slot and dies between its look and its lock → crashed; it has not run', async (stage) => {
  await warm(stage)
  const { client, driver, run, raw } = stage
  const other = '00000000-0000-4000-8000-000000000000'
  const send = driver.send.bind(driver)
  let looked = 0
  driver.send = async (argv, options) => {
    const reply = await send(argv, options)
    if (argv.some((word) => String(word).includes(slotsLook.sha)) && looked++ === 0)
      raw('HSET', '{o}:slot:x', 'state', 'running', 'run', `${other}:1`, 'attempt', 1, 'token', 1, 'began', 1)
    return reply
  }
  const result = await run(client.slots('o').run('x', () => assert.fail('without a retry')))
  assert.deepEqual(result, { outcome: 'skipped', reason: 'crashed', by: { client: other } })
  raw('DEL', ...KEYS)
})
