import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockAsk, lockConfirm } from '#src/lua/scripts.gen.js'
import { grantTo } from '../../support/grant.js'
import { stage } from '../../support/line-stage.js'

void test('a grant’s message that comes behind the answer to a poll, whose place has gone to a call with another lease → not believed', async () => {
  const { clock, clients, drivers, come, entered, run, raw, end } = await stage(2)
  const [ours] = drivers
  const theirs = clients[1]!.lock('x')
  const first = await run(theirs.acquire())
  const brief = await come(0, 'brief', { lease: 300, wait: 1300 })
  const long = await come(0, 'long', { lease: 10_000 })
  await clock.advance(700)
  ours!.back = { replies: [], messages: [] }
  // It is granted to the first of us, who hears nothing of it, and asks.
  await run(first.release())
  await clock.advance(400)
  assert.ok(ours!.back.messages.length > 0)
  assert.ok(Number(await raw('PTTL', 'x')) <= 300, 'the poll has confirmed it')
  // That lease is over: another has it. The place is the second's by now.
  await clock.advance(400)
  await run(assert.rejects(brief.coming, { code: 'ACQUIRE_TIMEOUT' }))
  const second = await run(theirs.acquire({ lease: 10_000 }))
  ours!.delays.set(lockConfirm.sha, 20)
  await run(ours!.arrive())
  ours!.delays.clear()
  await clock.advance(100)
  assert.deepEqual(entered, [])
  assert.equal(second.state, 'held')
  assert.equal(await run(second.release()), true)
  await run(long.coming)
  await end()
})

void test('an answer later than the lease of a call that has left its place to another → that other one goes on waiting', async () => {
  const { clock, clients, drivers, come, names, run, end } = await stage(2)
  const [ours] = drivers
  const first = await run(clients[1]!.lock('x').acquire())
  const brief = await come(0, 'brief', { lease: 300, wait: 1300 })
  const other = await come(0, 'other', { lease: 300, wait: 60_000 })
  await clock.advance(700)
  ours!.back = { replies: [], messages: [] }
  await run(first.release())
  await clock.advance(800)
  await run(assert.rejects(brief.coming, { code: 'ACQUIRE_TIMEOUT' }))
  await run(ours!.arrive())
  await run(other.coming)
  assert.deepEqual(names(), ['other'])
  await end()
})

const LINE = 'holdfast_line:{x}'
const REDISSON = '6f1a0b8e-2b1f-4a57-9f0e-1d2c3b4a5968:1'

/** A stranger who heard an earlier grant, and searched for the nine digits of the name, says that it was granted now. */
const forge = async ({ raw }: Pick<Awaited<ReturnType<typeof stage>>, 'raw'>, wire: string): Promise<void> => {
  const [seconds, micros] = (await raw('TIME')) as [string, string]
  const grant = grantTo(wire, seconds + micros.padStart(6, '0'))
  assert.equal(await raw('PUBLISH', `holdfast_line_grant:{x}:${wire.slice(0, 36)}`, grant), 1)
}

/** One of ours waits behind theirs; its name. */
const waiting = async ({ clients, come, run, raw }: Awaited<ReturnType<typeof stage>>) => {
  const first = await run(clients[1]!.lock('x').acquire())
  const ours = await come(0, 'ours')
  const [wire] = (await raw('LRANGE', LINE, '0', '-1')) as string[]
  return { first, ours, wire: wire ?? assert.fail() }
}

void test('heard nothing of a grant until it was over, and a Redisson has the lock → a stranger who knows the name is not believed', async () => {
  const scene = await stage(2)
  const { clock, drivers, entered, run, raw, end } = scene
  const { first, ours, wire } = await waiting(scene)
  const driver = drivers[0]!
  driver.delays.set(lockAsk.sha, 2300)
  driver.back = { replies: [], messages: [] }
  await run(first.release())
  await clock.advance(3050)
  assert.equal(await raw('HSET', 'x', REDISSON, '1'), 1)
  await raw('PEXPIRE', 'x', '30000')
  await clock.advance(400)
  assert.equal(driver.back.replies.length, 1, 'it asked meanwhile')
  driver.back.messages.length = 0
  driver.delays.clear()
  await run(driver.arrive())
  await clock.advance(20)
  assert.deepEqual(await raw('LRANGE', LINE, '0', '-1'), [wire])
  driver.delays.set(lockConfirm.sha, 20)
  await forge(scene, wire)
  await clock.advance(100)
  assert.deepEqual(entered, [])
  driver.delays.clear()
  await raw('DEL', 'x')
  await run(ours.coming)
  await end()
})

void test('stood still until a grant was over, and reads a forged one first → it is not believed', async () => {
  const scene = await stage(2)
  const { clock, clients, drivers, entered, still, goesOn, run, end } = scene
  const { first, ours, wire } = await waiting(scene)
  const driver = drivers[0]!
  still.set(0, [])
  driver.back = { replies: [], messages: [] }
  await run(first.release())
  await clock.advance(3050)
  const second = await run(clients[1]!.lock('x').acquire({ lease: 10_000 }))
  // The genuine one was lost.
  driver.back.messages.length = 0
  await forge(scene, wire)
  driver.delays.set(lockConfirm.sha, 20)
  await run(driver.arrive())
  goesOn(0)
  await clock.advance(10)
  assert.deepEqual(entered, [])
  driver.delays.clear()
  await clock.advance(1500)
  assert.equal(second.state, 'held')
  await run(second.release())
  await run(ours.coming)
  await end()
})

void test('taken for a call that has left, and what confirms it for the next is refused → that one hears of it, and nothing is left', async () => {
  const { clock, drivers, come, raw, run, end } = await stage(1)
  const [driver] = drivers
  const send = driver!.send.bind(driver)
  driver!.send = (argv, options) =>
    argv[1] === lockConfirm.sha ? Promise.reject(new Error('NOPERM no permissions')) : send(argv, options)
  driver!.lag = 40
  const brief = await come(0, 'brief', { lease: 30_000, wait: 20 })
  const next = await come(0, 'next', { lease: 300, wait: 60_000 })
  await run(assert.rejects(brief.coming, { code: 'ACQUIRE_TIMEOUT' }))
  await run(assert.rejects(next.coming, { code: 'NOPERM' }))
  driver!.lag = 0
  await clock.advance(200)
  assert.equal(await raw('EXISTS', 'x'), 0)
  await end()
})
