import assert from 'node:assert/strict'
import { test } from 'node:test'
import { count, firstToSay, recipe, type Running, soon } from './recipe.js'

const termsOf = (running: Running): number[] =>
  [...running.text().matchAll(/: polling, term (\d+)\n/g)].map(([, term]) => Number(term))

const lastTermOf = (running: Running): number => termsOf(running).at(-1) ?? 0

void test('a leader is killed, the next one gets SIGTERM → each time another takes over, with a larger term', async (t) => {
  const here = await recipe(t, 'leader.md')
  if (here === undefined) return
  const { client } = here
  const first = here.start('leader.mjs', ['ada'])
  await first.said(/ada: polling, term 1\n/)
  const others = ['bob', 'cleo'].map((name) => here.start('leader.mjs', [name]))
  await soon(async () => (await client.fencedLock('mailbox').inspect()).waiting.length === 2)
  // On a machine that stands still for longer than the lease, ada may have lost it.
  const leads = count(others, /leading/)
  assert.ok(leads === 0 || ((await client.election('mailbox').leader())?.term ?? 2n) > 1n)

  first.kill('SIGKILL')
  const second = await firstToSay(others, /: polling, term [2-9]\n/)
  const third = others.find((one) => one !== second)!
  second.kill('SIGTERM')
  assert.deepEqual(await second.ended, { code: null, signal: 'SIGTERM' })
  assert.match(second.text(), /: no longer leading\n$/)
  await soon(() => lastTermOf(third) > lastTermOf(second))
  const all = [first, ...others].flatMap((one) => [...new Set(termsOf(one))])
  assert.equal(new Set(all).size, all.length, 'a term belongs to one process')
})
