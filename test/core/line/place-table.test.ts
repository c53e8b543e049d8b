import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import { PlaceTable } from '#src/core/line/place-table.js'
import { numberOf, secretOf, wireOwner } from '#src/keys.js'
import { seeded } from '../../support/random.js'
import type { Place } from '#src/core/waiting/waiter.js'

const CLIENT = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f'

const placeOf = (number: number, mark = ''): Place => {
  const wire = wireOwner(CLIENT, secretOf(number), number) + mark
  return { wire, number: numberOf(wire), alike: undefined } as Place
}

for (const mark of ['', ':write']) {
  void test(`a thousand places come and go, marked '${mark}' → each is found while it is there, the oldest first`, () => {
    const random = seeded(7)
    const table = new PlaceTable()
    const there: Place[] = []
    let number = 2 ** 31 - 500
    for (let step = 0; step < 3000; step++) {
      if (there.length === 0 || random() < (step < 1500 ? 0.7 : 0.3)) {
        // Other locks of the client use numbers as well.
        number += 1 + Math.floor(random() * 3)
        const place = placeOf(number, mark)
        there.push(place)
        table.add(place)
      } else {
        const [gone] = there.splice(Math.floor(random() * there.length), 1)
        table.remove(gone!)
        table.remove(gone!)
        assert.equal(table.at(gone!.number), undefined)
        assert.equal(gone!.alike, undefined)
      }
      assert.equal(table.size, there.length)
      for (const place of there.slice(-3)) assert.equal(table.at(place.number), place)
    }
    assert.deepEqual([...table], there)
    for (const place of there) assert.equal(table.at(place.number), place)
    for (const no of [number + 1, there[0]!.number + 0.5, 0, -1, NaN]) assert.equal(table.at(no), undefined)
  })
}

for (const kind of ['fairLock', 'fairReadWriteLock'] as const) {
  void test(`${kind}: the line is deleted → twenty waiters of one process queue again in their order`, async () => {
    const clock = virtualClock()
    const url = `memory:deleted-${kind}`
    const server = openMemoryServer(`deleted-${kind}`, clock)
    const [one, two] = [await connect({ url, clock }), await connect({ url, clock })]
    const lockOf = (client: typeof one) =>
      kind === 'fairLock' ? client.fairLock('a') : client.readWriteLock('a', { fair: true }).write
    const first = await lockOf(two).acquire()
    const order: number[] = []
    const wait = async (place: number): Promise<void> => {
      const hold = await lockOf(one).acquire()
      order.push(place)
      await hold.release()
    }
    const waiting: Promise<void>[] = []
    for (let place = 0; place < 20; place++) {
      waiting.push(wait(place))
      await clock.advance(2)
    }
    server.execute(['FLUSHALL'])
    for (let i = 0; i < 200; i++) await clock.advance(20)
    await Promise.all(waiting)
    assert.deepEqual(
      order,
      Array.from({ length: 20 }, (_, place) => place),
    )
    await first.release().catch(() => false)
    await Promise.all([one.close(), two.close()])
  })
}
