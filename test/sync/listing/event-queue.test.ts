import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { EventQueue } from '#src/sync/listing/event-queue.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const takeOne = async (queue: EventQueue<object>): Promise<void> => {
  assert.equal((await queue.next()).done, false)
}

void describe('the events that wait for a loop', () => {
  void it('a reader that always leaves some → what it has taken is forgotten', async () => {
    const queue = new EventQueue<object>(10)
    const pushed: WeakRef<object>[] = []
    const push = (): void => {
      const item = {}
      pushed.push(new WeakRef(item))
      queue.push(item)
    }
    for (let i = 0; i < 6; i++) push()
    for (let i = 0; i < 1000; i++) {
      push()
      await takeOne(queue)
    }
    await tick()
    collectGarbage()
    const kept = pushed.filter((one) => one.deref() !== undefined).length
    assert.ok(kept >= 6 && kept <= 20, `${kept} are kept`)
  })

  void it('each event once and in order, at any pace', async () => {
    const queue = new EventQueue<number>(10)
    let [pushed, taken] = [0, 0]
    for (let round = 0; round < 50; round++) {
      for (let i = 0; i < (round * 7) % 11; i++) queue.push(pushed++)
      for (let i = 0; i < (round * 5) % 9 && taken < pushed; i++)
        assert.deepEqual(await queue.next(), { done: false, value: taken++ })
    }
    while (taken < pushed) assert.deepEqual(await queue.next(), { done: false, value: taken++ })
    assert.ok(pushed > 200)
  })
})
