import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { systemClock } from '#src/base/clock.js'
import { Emitter } from '#src/base/emitter.js'
import type { ClientEvents } from '#src/api/monitoring.js'
import { LockEvents } from '#src/core/client/lock-events.js'
import type { ObservableCall } from '#src/core/client/observed-call.js'

const EVENTS = ['acquire', 'wait', 'grant', 'end', 'release'] as const
const lock = { name: 'a', kind: { name: 'lock' } }

test('nobody listens → the call is its own promise, and nothing is built; one listener of any event → it is observed', async () => {
  const events = new LockEvents(systemClock, new Emitter<ClientEvents>(() => undefined), 'c')
  const asked = Promise.resolve('granted')
  const request: ObservableCall = { wait: 0 }
  const ask = (): Promise<string> => asked
  assert.equal(events.call(lock, request, ask), asked)
  assert.equal(events.using(lock, ask), asked)
  assert.equal(request.call, undefined)
  assert.equal(events.nextNumber(), 1)
  const hear = (): void => undefined
  for (const event of EVENTS) {
    subscribe(`holdfast:${event}`, hear)
    const observed: ObservableCall = { wait: 0 }
    assert.equal(await events.call(lock, observed, ask), 'granted')
    assert.notEqual(observed.call, undefined, event)
    unsubscribe(`holdfast:${event}`, hear)
  }
  // Each of those calls took a number.
  assert.equal(events.nextNumber(), 2 + EVENTS.length)
  assert.equal(events.call(lock, request, ask), asked)
})
