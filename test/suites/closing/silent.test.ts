import assert from 'node:assert/strict'
import { ClosedError, type Hold } from 'holdfast'
import { watch } from '../contract/lock/kind.js'
import { onStage } from '../../support/stage.js'
import { type Held, callsOf } from '../../support/surface.js'

onStage(
  'the server is silent and the client closes → every call of every kind rejects with ClosedError within a second',
  async ({ client, driver, clock, raw, run }) => {
    const lock = client.lock('held')
    const other = client.lock('other')
    const permits = client.permitSemaphore('permits')
    await run(permits.trySetPermits(1))
    const held: Held = {
      holds: [await run(lock.acquire({ lease: 60_000 })), await run(other.acquire({ lease: 60_000 }))] satisfies Hold[],
      permit: await run(permits.acquire({ lease: 60_000 })),
      ticket: await run((await run(client.lock('detached').acquire({ lease: 60_000 }))).detach()),
    }
    driver.loses = () => 'request'
    const calls = Object.entries(callsOf(client, held)).map(([name, call]) => ({ name, outcome: outcomeOf(call()) }))
    await clock.advance(100)
    const closing = watch(client.close())
    await clock.advance(900)
    const wrong = calls.filter(({ outcome: { error } }) => !(error instanceof ClosedError))
    assert.deepEqual(
      wrong.map(({ name, outcome: { error } }) => `${name}: ${String(error)}`),
      [],
    )
    await clock.advance(1000)
    assert.ok(closing.settled, 'close is not through after commandTimeout and a poll')
    await clock.advance(3_600_000)
    raw('DEL', 'permits', '{permits}:timeout')
  },
  [],
  900,
)

const outcomeOf = (call: Promise<unknown>): { error?: unknown } => {
  const outcome: { error?: unknown } = {}
  call.then(
    (answer) => (outcome.error = `answered ${String(answer)}`),
    (error: unknown) => (outcome.error = error),
  )
  return outcome
}
