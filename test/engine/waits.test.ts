import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WaitCommands } from '#src/engine/wait-commands.js'
import type { Reply } from '#src/lua/values.js'

/** Answers when told to. */
class Server {
  readonly asked: { answer(reply: Reply): void; fail(error: Error): void }[] = []
  readonly waits = new WaitCommands(() => {
    return new Promise((answer, fail) => this.asked.push({ answer, fail }))
  })
}

const WAIT = { replicas: 1, timeout: 100 }
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

void describe('WAITs of one node', () => {
  test('nobody asks → asked at once; while one is on its way → those who come share the next, asked after it', async () => {
    const { waits, asked } = new Server()
    const first = waits.join(WAIT)
    assert.equal(asked.length, 1)
    const [second, third] = [waits.join(WAIT), waits.join(WAIT)]
    await settled()
    assert.equal(asked.length, 1)
    asked[0]?.answer(1)
    assert.equal(await first, 1)
    await settled()
    assert.equal(asked.length, 2)
    const fourth = waits.join(WAIT)
    asked[1]?.answer(2)
    assert.deepEqual(await Promise.all([second, third]), [2, 2])
    await settled()
    asked[2]?.answer(3)
    assert.equal(await fourth, 3)
    void waits.join(WAIT)
    assert.equal(asked.length, 4, 'idle again')
  })

  test('one fails → only those who asked for it hear of it', async () => {
    const { waits, asked } = new Server()
    const [first, second] = [waits.join(WAIT), waits.join(WAIT)]
    asked[0]?.fail(new Error('cut'))
    await assert.rejects(first, /cut/)
    await settled()
    asked[1]?.answer(1)
    assert.equal(await second, 1)
  })
})
