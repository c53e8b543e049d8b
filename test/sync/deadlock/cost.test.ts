import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onDriver } from './seen-driver.js'

const none = (): boolean => false
const nothing = (): undefined => undefined

void describe('what a look costs', () => {
  test('1400 clients read what two calls wait to write → the waits of 1000 are looked at, and no more', () =>
    onDriver(none, async ({ client, clock, driver, run, server }) => {
      for (let i = 0; i < 1400; i++) {
        const key = `rw${i % 2}`
        const owner = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}:1234567891`
        server.execute(['HSET', key, 'mode', 'read', owner, '1'])
        server.execute(['SET', `{${key}}:${owner}:rwlock_timeout:1`, '1', 'PX', '60000'])
        server.execute(['PEXPIRE', key, '60000'])
      }
      const calls = ['rw0', 'rw1'].map((key) =>
        client.lock(`a ${key}`).using(() => client.readWriteLock(key).write.tryAcquire({ wait: 5000 })),
      )
      await clock.advance(3000)
      const read = driver.sent.flatMap((words) => words.filter((word) => word.endsWith(':waits')))
      const clients = new Set(read.filter((word) => word.includes('-4000-8000-')))
      assert.equal(clients.size, 999, 'and its own')
      assert.deepEqual(await run(Promise.all(calls)), [undefined, undefined])
      server.execute(['DEL', 'rw0', 'rw1'])
      await clock.advance(60_000)
    }))

  test('2000 nested waits → only those that are told become text', (t) =>
    onDriver(none, async ({ client, clock, run }) => {
      const kept = await run(client.lock('b').acquire())
      const work = Promise.all(
        Array.from({ length: 2000 }, (_, i) =>
          client.lock(`a${i}`).using(() => client.lock('b').using({ wait: 5000 }, nothing).catch(nothing)),
        ),
      )
      await clock.advance(3000)
      const stringify = t.mock.method(JSON, 'stringify')
      await clock.advance(1000)
      const count = stringify.mock.callCount()
      stringify.mock.restore()
      // 128 waits four times a second, with what they hold and what they wait for; and a look at them.
      assert.ok(count > 100 && count < 6000, String(count))
      await run(work)
      await run(kept.release())
    }))
})
