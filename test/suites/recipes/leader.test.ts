import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/until.js'
import { count, firstToSay, recipe } from './recipe.js'

void test('a leader is killed, the next one gets SIGTERM → each time another takes over, never two at once', async (t) => {
  const here = await recipe(t, 'leader.md')
  if (here === undefined) return
  const { client } = here
  const first = here.start('leader.mjs', ['ada'])
  await first.said(/ada: polling, term 1\n/)
  const others = ['bob', 'cleo'].map((name) => here.start('leader.mjs', [name]))
  const lock = client.fencedLock('mailbox')
  await until(async () => (await lock.inspect()).waiting.length === 2)
  assert.equal(count(others, /leading/), 0)

  first.kill('SIGKILL')
  const second = await firstToSay(others, /: polling, term 2\n/)
  const third = others.find((one) => one !== second)!
  assert.equal(count([third], /leading/), 0)

  second.kill('SIGTERM')
  await third.said(/: polling, term 3\n/)
  assert.deepEqual(await second.ended, { code: null, signal: 'SIGTERM' })
  assert.match(second.text(), /: no longer leading\n$/)
  assert.equal((await client.election('mailbox').leader())?.term, 3n)
})
