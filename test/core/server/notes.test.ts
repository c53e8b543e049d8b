import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { MemoryServer } from '#src/engine/memory/server.js'
import { semaphoreAdd } from '#src/lua/scripts.gen.js'

/** For how long whoever gives back may ask again, ms. */
const HALF_AN_HOUR = 1_800_000

for (const [title, there, wanted] of [
  ['given back', '3', 4],
  ['refused', undefined, -1],
] as const) {
  void test(`${title}, asked again half an hour after a copy that was asked again → done once`, async () => {
    const clock = virtualClock()
    const server = new MemoryServer(clock)
    if (there !== undefined) server.execute(['SET', 's', there])
    const add = (): unknown =>
      server.execute([
        'EVAL',
        semaphoreAdd.text,
        '6',
        ...['s', 'note', 'line', 'due', 'wanted', 'turn'],
        ...['1', there === undefined ? '0' : '1', 'client', '0', '1', '1', 'channel', 'grants', 'PUBLISH'],
      ])
    const first = add()
    add()
    await clock.advance(HALF_AN_HOUR)
    if (there === undefined) server.execute(['SET', 's', '7'])
    add()
    assert.equal(first, there === undefined ? -1 : 1)
    assert.equal(String(server.execute(['INCRBY', 's', '0']) as number), String(there === undefined ? 7 : wanted))
  })
}
