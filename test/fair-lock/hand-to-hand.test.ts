import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import type { Client, DiagnosticMessage } from 'holdfast'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'

const NAME = 'a'

/** Lets everything happen that needs no more than a millisecond of the clock. */
const settle = async (clock: ReturnType<typeof virtualClock>): Promise<void> => {
  for (let i = 0; i < 20; i++) await clock.advance(1)
}

void test('waiters who stand right behind each other → in the order of the line, without the server where none stands between', async () => {
  const clock = virtualClock()
  const url = 'memory:hand-to-hand'
  const [one, two] = [await connect({ url, clock }), await connect({ url, clock })]
  const grants: boolean[] = []
  const listener = (message: unknown): void => void grants.push((message as DiagnosticMessage).local === true)
  subscribe('holdfast:grant', listener)
  const order: string[] = []
  const wait = async (client: Client, label: string): Promise<void> => {
    const hold = await client.fairLock(NAME).acquire()
    order.push(label)
    await hold.release()
  }
  try {
    const first = await two.fairLock(NAME).acquire()
    const waiting: Promise<void>[] = []
    for (const [client, label] of [
      ...(['a1', 'a2', 'a3'] as const).map((label) => [one, label] as const),
      [two, 'b1'] as const,
      ...(['a4', 'a5'] as const).map((label) => [one, label] as const),
    ]) {
      waiting.push(wait(client, label))
      await settle(clock)
    }
    grants.length = 0
    await first.release()
    await settle(clock)
    await Promise.all(waiting)
    assert.deepEqual(order, ['a1', 'a2', 'a3', 'b1', 'a4', 'a5'])
    assert.deepEqual(grants, [false, true, true, false, false, true])
    await settle(clock)
    const { holders, waiting: left } = await one.fairLock(NAME).inspect()
    assert.deepEqual([holders, left], [[], []])
  } finally {
    unsubscribe('holdfast:grant', listener)
    await Promise.all([one.close(), two.close()])
  }
})
