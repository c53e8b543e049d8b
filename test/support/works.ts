import assert from 'node:assert/strict'
import { type Client, connect } from 'holdfast'

/** Whether a connection of the caller's answers in the types that holdfast needs, at a call of each kind. */
export const works = async (connection: object): Promise<void> => {
  const client = await connect({ connection })
  try {
    await usedFor(client)
  } finally {
    await client.close()
  }
}

const usedFor = async (client: Client): Promise<void> => {
  assert.deepEqual(client.warnings, [])
  const hold = await client.fencedLock('a').acquire()
  assert.equal(hold.token > 0n, true)
  assert.equal((await client.fencedLock('a').inspect()).holders.length, 1)
  assert.equal(await client.fencedLock('a').isLocked(), true)
  assert.equal(await hold.release(), true)
  const semaphore = client.semaphore('s')
  assert.equal(await semaphore.trySetPermits(3), true)
  assert.equal(await semaphore.available(), 3)
  assert.equal(await client.topic('t').subscribers(), 0)
  assert.equal(await client.script('return 7').run({ returns: 'integer' }), 7)
}
