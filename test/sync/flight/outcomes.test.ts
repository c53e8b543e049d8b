import assert from 'node:assert/strict'
import { flightClaim, flightFinish, flightLook } from '#src/lua/scripts.gen.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { onStage, type Stage } from '../../support/stage.js'
import { SwitchedDriver } from '../../support/switched-driver.js'

const LOCK = '{f}:flight-lock:a'
const KEYS = ['{f}:flight:a', LOCK, '{f}:flights:token']

/** The server knows the scripts: what it is asked for, it does when it is asked. */
const warm = async ({ client, raw, run }: Stage): Promise<void> => {
  await run(client.flight('f').run('a', () => 1))
  raw('DEL', ...KEYS)
}

for (const loss of ['request', 'answer'] as const)
  onStage(
    `nothing of the end of a computation is answered (${loss}) → its caller has the value in seconds`,
    async (stage) => {
      await warm(stage)
      const { client, driver, clock, run, raw } = stage
      driver.loses = (words) => (words.some((word) => word.includes(flightFinish.sha)) ? loss : undefined)
      const began = clock.monotonic()
      const { value, shared } = await run(client.flight('f').run('a', () => 'mine'))
      assert.deepEqual([value, shared], ['mine', false])
      assert.ok(clock.monotonic() - began <= 1600, `${clock.monotonic() - began} ms`)
      assert.equal(raw('EXISTS', LOCK), 1, 'no other process computes while this one may still store its value')
      driver.loses = () => undefined
      await clock.advance(2000)
      assert.deepEqual(
        [raw('HGET', '{f}:flight:a', 'value'), raw('EXISTS', LOCK)],
        ['"mine"', 0],
        'stored when the server answers, and then released',
      )
      raw('DEL', ...KEYS)
    },
  )

onStage(
  'nothing of the end is answered until its lock is over → the value is not returned; it computes again',
  async (stage) => {
    await warm(stage)
    const { client, driver, clock, run, raw } = stage
    let computed = 0
    driver.loses = (words) => (words.some((word) => word.includes(flightFinish.sha)) ? 'request' : undefined)
    const running = client.flight('f').run('a', { lease: 1000 }, () => {
      computed++
      if (computed === 1) raw('DEL', LOCK)
      else driver.loses = () => undefined
      return computed
    })
    await clock.advance(1000)
    assert.equal((await run(running)).value, 2)
    raw('DEL', ...KEYS)
  },
)

onStage('its lock is over, and then the end turns out to be stored → the value is its own', async (stage) => {
  await warm(stage)
  const { client, driver, clock, run, raw } = stage
  let computed = 0
  const running = client.flight('f').run('a', { lease: 1000 }, () => {
    computed++
    const lost = [flightFinish.sha, flightLook.sha]
    driver.loses = (words) => (lost.some((sha) => words.some((word) => word.includes(sha))) ? 'answer' : undefined)
    // The server has lost the lock before it answers; nobody else computes.
    void clock.setTimer(() => raw('DEL', LOCK), 200)
    return computed
  })
  await clock.advance(1900)
  driver.loses = () => undefined
  const { value, shared } = await run(running)
  assert.deepEqual([value, shared], [1, false])
  raw('DEL', ...KEYS)
})

onStage('the last end has a greater token than any new one → one round for all calls of a process', async (stage) => {
  await warm(stage)
  const { client, driver, run, raw } = stage
  const restored = ['state', 'value', 'token', 1000, 'ended', 1, 'form', 'text', 'value', '"restored"']
  raw('HSET', '{f}:flight:a', ...restored)
  const before = driver.sent.length
  let computed = 0
  const all = await run(Promise.all(Array.from({ length: 20 }, () => client.flight('f').run('a', () => ++computed))))
  assert.deepEqual(new Set(all.map(({ value }) => value)), new Set([1]))
  const claims = driver.sent.slice(before).filter((words) => words.some((word) => word.includes(flightClaim.sha)))
  assert.equal(claims.length, 1)
  raw('DEL', ...KEYS)
})

const isFinish = (words: readonly string[]): boolean => words.some((word) => word.includes(flightFinish.sha))

onStage(
  'the client closes while an end is not stored → it is stored, and the lock is freed after that',
  async (stage) => {
    await warm(stage)
    const { driver, clock, run, raw, server } = stage
    const closing = new SwitchedDriver(new MemoryDriver(server, 'closing'))
    const client = await stage.other(closing)
    closing.loses = (words) => (isFinish(words) ? 'request' : undefined)
    const call = client.flight('f').run('a', () => 'mine')
    await clock.advance(100)
    const closed = client.close()
    await clock.advance(100)
    assert.deepEqual([raw('EXISTS', LOCK), raw('EXISTS', '{f}:flight:a')], [1, 0], 'not freed before it is stored')
    closing.loses = () => undefined
    assert.equal((await run(call)).value, 'mine')
    await run(closed)
    assert.deepEqual([raw('HGET', '{f}:flight:a', 'value'), raw('EXISTS', LOCK)], ['"mine"', 0])
    assert.ok(driver.isUp)
    raw('DEL', ...KEYS)
  },
)

onStage(
  'the client closes, and the server never hears of the end → its caller has the value, and close ends',
  async (stage) => {
    await warm(stage)
    const { clock, run, raw, server } = stage
    const closing = new SwitchedDriver(new MemoryDriver(server, 'closing'))
    const client = await stage.other(closing)
    closing.loses = (words) => (isFinish(words) ? 'request' : undefined)
    const call = client.flight('f').run('a', () => 'mine')
    await clock.advance(100)
    const began = clock.monotonic()
    await run(client.close())
    assert.ok(clock.monotonic() - began <= 2000, `${clock.monotonic() - began} ms`)
    assert.equal((await run(call)).value, 'mine')
    raw('DEL', LOCK, ...KEYS)
  },
)

onStage(
  'a server that lost its data gave its token again → the end of the other is not taken for its own',
  async (stage) => {
    await warm(stage)
    const { client, driver, clock, run, raw } = stage
    let computed = 0
    const running = client.flight('f').run('a', { lease: 1000 }, ({ token }) => {
      computed++
      driver.loses = (words) => (isFinish(words) ? 'request' : undefined)
      void clock.setTimer(() => {
        raw('DEL', LOCK)
        const theirs = [
          'state',
          'value',
          'token',
          String(token),
          'ended',
          clock.now(),
          'form',
          'text',
          'value',
          '"theirs"',
        ]
        raw('HSET', '{f}:flight:a', ...theirs)
      }, 200)
      return 'mine'
    })
    await clock.advance(1900)
    const { value, shared } = await run(running)
    assert.deepEqual([value, shared, computed], ['theirs', true, 1])
    driver.loses = () => undefined
    await clock.advance(2000)
    raw('DEL', ...KEYS)
  },
)

onStage(
  'a value that is not stored yet → its call has it; the others wait, and compute if it is refused',
  async (stage) => {
    await warm(stage)
    const { client, driver, clock, run, raw } = stage
    driver.loses = (words) => (isFinish(words) ? 'request' : undefined)
    const first = client.flight('f').run('a', () => 'mine')
    let others = ''
    const shares = client
      .flight('f')
      .run('a', () => 'anew')
      .then(({ value }) => (others = value))
    assert.equal((await run(first)).value, 'mine')
    await clock.advance(100)
    assert.equal(others, '', 'it waits')
    raw('DEL', LOCK)
    driver.loses = () => undefined
    await run(shares)
    assert.equal(others, 'anew')
    raw('DEL', ...KEYS)
  },
)

onStage('a value that is stored late → the others have it then', async (stage) => {
  await warm(stage)
  const { client, driver, clock, run, raw } = stage
  driver.loses = (words) => (isFinish(words) ? 'request' : undefined)
  const first = client.flight('f').run('a', () => 'mine')
  const shares = client.flight('f').run('a', () => assert.fail('it is shared'))
  assert.equal((await run(first)).value, 'mine')
  await clock.advance(1000)
  driver.loses = () => undefined
  const { value, shared } = await run(shares)
  assert.deepEqual([value, shared], ['mine', true])
  raw('DEL', ...KEYS)
})
