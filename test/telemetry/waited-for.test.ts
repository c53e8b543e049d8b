import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiagnosticMessage } from 'holdfast'
import { WaitedFor } from '#src/telemetry/waited-for.js'

const message = (more: Partial<DiagnosticMessage>): DiagnosticMessage => ({
  ...{ client: 'c', kind: 'lock', name: 'a', ...more },
})

test('clients that come and go, with names that differ only in their parts → no link between them, and nothing is kept', () => {
  const known = new WaitedFor<string>()
  for (const [client, name] of [
    ['c', 'd:a'],
    ['c:d', 'a'],
  ] as const) {
    known.held(message({ client, name, hold: 1 }), `${client} ${name}`)
    known.waits(message({ client, name, id: 2 }))
  }
  assert.equal(known.clients, 2)
  assert.deepEqual(known.ended(message({ client: 'c', name: 'd:a', id: 2 })), ['c d:a'])
  known.released(message({ client: 'c', name: 'd:a', hold: 1 }))
  assert.deepEqual(known.ended(message({ client: 'c:d', name: 'a', id: 2 })), ['c:d a'])
  known.released(message({ client: 'c:d', name: 'a', hold: 1 }))
  assert.equal(known.clients, 0)
})

test('ends of calls and holds that nobody saw begin → no link, and nothing is kept', () => {
  const known = new WaitedFor<string>()
  for (let id = 0; id < 1000; id += 1) {
    assert.deepEqual(known.ended(message({ client: `c${id}`, id })), [])
    known.released(message({ client: `c${id}`, hold: id }))
    known.held(message({ client: `c${id}`, id }), 'a latch is not held')
  }
  assert.equal(known.clients, 0)
})

test('a hold that ended before the call waited → no link to it; the one whose release let it in comes last', () => {
  const known = new WaitedFor<string>()
  known.held(message({ hold: 1 }), 'one')
  known.waits(message({ id: 1 }))
  known.released(message({ hold: 1 }))
  known.held(message({ hold: 2 }), 'two')
  known.waits(message({ id: 2 }))
  known.released(message({ hold: 2 }))
  assert.deepEqual(known.ended(message({ id: 2 })), ['two'])
  assert.deepEqual(known.ended(message({ id: 1 })), ['one', 'two'])
  assert.equal(known.clients, 0)
})
