import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Runtime } from '#src/core/client/runtime.js'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import { VictimClaims } from '#src/sync/deadlock/victim-claims.js'
import { virtualClock } from 'holdfast/testing'

void describe('who ends a deadlock', () => {
  void test('two clients claim it → the first, also when its answer was lost; anew once the claim has expired', async () => {
    const clock = virtualClock(1)
    const server = openMemoryServer(`claims-${process.pid}`, clock)
    const of = (id: string): VictimClaims => {
      const link = { command: async (argv: (string | number)[]) => server.execute(argv.map(String)) }
      return new VictimClaims({ link, options: { id, clock }, keyOf: (name: string) => name } as unknown as Runtime)
    }
    const [one, two] = [of('one'), of('two')]
    assert.equal(await one.claim('cycle'), true)
    assert.equal(await two.claim('cycle'), false)
    assert.equal(await one.claim('cycle'), true, 'it asks again, because the answer was lost')
    assert.equal(await two.claim('another'), true)
    await clock.advance(10_001)
    assert.equal(await two.claim('cycle'), true)
    await two.end()
    assert.deepEqual(server.execute(['KEYS', '*']), [])
  })
})
