import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stage } from '../../support/line-stage.js'

void test('work that ended before the client closed, and nobody answers the release → its result, not ClosedError', async () => {
  const { clients, drivers, run } = await stage(2)
  const semaphore = clients[0]!.semaphore('x')
  assert.equal(await run(semaphore.trySetPermits(1)), true)
  let using: Promise<string> | undefined
  await run(
    new Promise<void>((working) => {
      using = semaphore.using(() => {
        drivers[0]!.mute = true
        working()
        return 'done'
      })
    }),
  )
  using!.catch(() => undefined)
  await run(clients[0]!.close({ drain: 1000 }))
  assert.equal(await run(using!), 'done')
  await run(clients[1]!.close())
})
