import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, connect, type ClientOptions } from 'holdfast'
import { systemClock } from '#src/base/clock.js'
import { readSettings } from '#src/config/settings.js'
import { Redis } from 'ioredis'
import { rejection } from '../contract/lock/kind.js'

const refused: readonly [string, ClientOptions, RegExp][] = [
  ['memory:', { url: 'memory:', watchdog: { thread: true } }, /needs a server/],
  [
    'another clock',
    { url: 'redis://localhost', watchdog: { thread: true }, clock: { ...systemClock } },
    /clock of the system/,
  ],
  [
    'maxBlocked without the thread',
    { url: 'redis://localhost', watchdog: { maxBlocked: 5000 } },
    /needs watchdog.thread/,
  ],
  [
    'a file that is not there',
    { url: 'redis://localhost', watchdog: { thread: new URL('file:///nowhere/thread.js') } },
    /no file '\/nowhere\/thread\.js'.*holdfast\/renewal-thread/,
  ],
]

for (const [what, options, message] of refused) {
  void test(`${what} → a ConfigError that says why`, async () => {
    const error = await rejection(connect(options))
    assert.ok(error instanceof ConfigError, String(error))
    assert.match(error.message, message)
  })
}

void test('a connection of your own → a ConfigError', async () => {
  const connection = new Redis({ lazyConnect: true })
  const error = await rejection(connect({ connection, watchdog: { thread: true } }))
  assert.ok(error instanceof ConfigError && error.message.includes('connection of your own'), String(error))
})

void test('values of the wrong type are refused', async () => {
  const wrong = [{ lease: 0 }, { lease: '5' }, { thread: 1 }, { thread: 'x' }, { thread: true, maxBlocked: 29_999 }]
  for (const watchdog of [...wrong, null, []]) {
    const error = await rejection(connect({ url: 'redis://localhost', watchdog: watchdog as never }))
    assert.ok(
      error instanceof TypeError || error instanceof RangeError,
      `${JSON.stringify(watchdog)}: ${String(error)}`,
    )
  }
})

void test('the defaults', async () => {
  const of = async (watchdog: ClientOptions['watchdog']): Promise<unknown> => {
    const { watchdog: lease, thread } = await readSettings({ url: 'redis://localhost', watchdog }, {})
    return { lease, maxBlocked: thread?.maxBlocked }
  }
  assert.deepEqual(await of(undefined), { lease: 30_000, maxBlocked: undefined })
  assert.deepEqual(await of({ lease: 5000 }), { lease: 5000, maxBlocked: undefined })
  assert.deepEqual(await of({ thread: true }), { lease: 30_000, maxBlocked: 300_000 })
  assert.deepEqual(await of({ lease: 9000, thread: true, maxBlocked: 9000 }), { lease: 9000, maxBlocked: 9000 })
})
