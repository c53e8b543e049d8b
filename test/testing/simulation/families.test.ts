import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FAMILIES, familyOf, seedsOf } from '#src/testing/simulation/families.js'

void describe('the turns of the families', () => {
  void it('each number comes once, and a slow family every few rounds', () => {
    const seedOf = seedsOf(FAMILIES)
    const seeds = Array.from({ length: 1000 }, (_, n) => seedOf(n))
    assert.equal(new Set(seeds).size, seeds.length)
    const counts = new Map(FAMILIES.map(({ name }) => [name, 0]))
    for (const seed of seeds) counts.set(familyOf(seed).name, (counts.get(familyOf(seed).name) ?? 0) + 1)
    const usual = counts.get('plain') ?? 0
    for (const { name, every = 1 } of FAMILIES) assert.ok(Math.abs((counts.get(name) ?? 0) - usual / every) <= 1, name)
  })

  void it('one family → its numbers, one after the other', () => {
    const deadlocks = FAMILIES.filter(({ name }) => name === 'deadlocks')
    assert.deepEqual([1, 2, 3].map(seedsOf(deadlocks)), [14_000_000_001, 14_000_000_002, 14_000_000_003])
  })
})
