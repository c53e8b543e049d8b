import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { arena } from './support/arena.js'
import { type Actor, listened } from './support/actors.js'
import { LATCH } from './support/counts.js'
import { NEWEST } from './support/redisson.js'

const run = (actor: Actor, name: string, step: string): Promise<unknown> => {
  const [operation = '', ...args] = step.split(' ')
  return actor.run(name, operation, args.map(Number))
}

void describe(`a latch that is deleted, beside Redisson ${NEWEST}`, () => {
  const enter = arena(NEWEST)

  void test('our latch deleted → Redisson’s waiters go on too', async (t) => {
    const here = enter(t)
    if (here === undefined) return
    const ours = await LATCH.node(here.url)
    const theirs = LATCH.java(await here.java.another({ url: here.url }))
    try {
      await run(ours, 'deleted', 'trySetCount 5')
      const waiting = run(theirs, 'deleted', 'await')
      await listened(() => LATCH.listeners(here.redis, 'deleted'), 1)
      await run(ours, 'deleted', 'delete')
      assert.equal(await waiting, true)
    } finally {
      await Promise.all([ours.close(), theirs.close()])
    }
  })
})
