import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'

for (const [count, most] of [
  [1, 0],
  [2, 0],
  [3, 1],
  [4, 1],
  [5, 2],
] as const)
  void test(`a red-lock of ${count}: had while others hold ${most} of them, not while they hold ${most + 1}`, async () => {
    const servers = await Promise.all(Array.from({ length: count }, () => connect('memory:')))
    try {
      const members = servers.map((server) => server.lock('a'))
      const lock = (servers[0] as (typeof servers)[0]).redLock(...members)
      const others = await Promise.all(members.slice(0, most).map((member) => member.acquire()))
      const hold = await lock.tryAcquire()
      assert.ok(hold !== undefined)
      assert.equal(await hold.release(), true)
      others.push(await (members[most] as (typeof members)[0]).acquire())
      assert.equal(await lock.tryAcquire(), undefined)
      await Promise.all(others.map((other) => other.release()))
    } finally {
      await Promise.all(servers.map((server) => server.close()))
    }
  })
