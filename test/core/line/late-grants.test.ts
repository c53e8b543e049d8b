import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockConfirm } from '#src/lua/scripts.gen.js'
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
