import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'
import { dashboard, type DashboardAction, type Leave } from 'holdfast/dashboard'
import type { Snapshot } from '#src/dashboard/page-messages.js'
import { until } from '../support/until.js'

const OWN = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }

void test('leave that ends while the body comes → nothing is done', async () => {
  const client = await connect('memory:')
  const hold = await client.lock('deploy').acquire()
  let leave: Leave = 'act'
  const actions: DashboardAction[] = []
  const handler = dashboard({ client, authorize: () => leave, onAction: (action) => void actions.push(action) })
  const found = async () => {
    const { locks } = (await (await handler(new Request('http://localhost/state'))).json()) as Snapshot
    return locks.find(({ holding }) => holding > 0)
  }
  await until(async () => (await found()) !== undefined)
  const lock = (await found()) ?? assert.fail()
  const said = new TextEncoder().encode(JSON.stringify({ lock: lock.id, owner: lock.holders[0]?.id }))
  const statusWhen = async (next: Leave): Promise<number> => {
    leave = 'act'
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const init = { method: 'POST', headers: OWN, body: readable, duplex: 'half' } as const
    const answer = handler(new Request('http://localhost/release', init))
    leave = next
    const writer = writable.getWriter()
    await writer.write(said)
    await writer.close()
    return (await answer).status
  }
  assert.deepEqual([await statusWhen('read'), await statusWhen(false)], [405, 403])
  assert.deepEqual([hold.state, actions.length], ['held', 0])
  assert.equal(await statusWhen('act'), 200)
  assert.equal(await client.lock('deploy').isLocked(), false)
  await client.close()
})

void test('an `authorize` that reads a copy of the body → both times the same', async () => {
  const client = await connect('memory:')
  const hold = await client.lock('deploy').acquire()
  const bodies: string[] = []
  const authorize = async (request: Request): Promise<Leave> => {
    if (request.method === 'POST') bodies.push(await request.clone().text())
    return 'act'
  }
  const handler = dashboard({ client, authorize })
  const found = async () => {
    const { locks } = (await (await handler(new Request('http://localhost/state'))).json()) as Snapshot
    return locks.find(({ holding }) => holding > 0)
  }
  await until(async () => (await found()) !== undefined)
  const lock = (await found()) ?? assert.fail()
  const body = JSON.stringify({ lock: lock.id, owner: lock.holders[0]?.id })
  const answer = await handler(new Request('http://localhost/release', { method: 'POST', headers: OWN, body }))
  assert.deepEqual([answer.status, bodies], [200, [body, body]])
  assert.equal(await client.lock('deploy').isLocked(), false)
  assert.equal(await hold.release(), false)
  await client.close()
})
