import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changesOf, firstLook, type Look } from '#src/sync/listing/changes.js'

/** `100 a b | c d (5000)`: at 100, a and b hold the lock for 5 s, c and d wait. */
const look = (text: string): Look => {
  const [, at, holders = '', waiting = '', ttl = '30000'] = /^(\d+) ([^|]*)\|([^(]*)(?:\((\d+)\))?/.exec(text) ?? []
  const owners = (names: string): { owner: string; count: number }[] =>
    names.split(' ').flatMap((owner) => (owner === '' ? [] : [{ owner, count: 1 }]))
  const line = owners(waiting).map(({ owner }) => ({ owner, deadline: 0 }))
  return { at: Number(at), state: { ttl: Number(ttl), holders: owners(holders), waiting: line } }
}

void describe('what happened between two looks at a lock', () => {
  for (const [before, after, happened] of [
    ['0 a | b', '250 a | b', ''],
    ['0 |', '250 a |', 'granted a'],
    ['0 a |', '250 a | b', 'waiting b'],
    ['0 a | b c', '250 b | c', 'ended? a, granted b'],
    ['0 a | b c', '250 a | c', 'gave up b'],
    ['0 a | b c', '250 c |', 'ended? a, gave up? b, granted c'],
    ['0 a | (200)', '250 |', 'expired a'],
    ['0 a b | (200)', '250 |', 'ended? a, ended? b'],
    ['0 a | (5000)', '250 |', 'ended? a'],
  ] as const)
    test(`${before} → ${after}: ${happened}`, () => {
      const changes = changesOf(look(before), look(after))
      assert.equal(
        changes.map(({ type, owner, certain }) => `${type}${certain ? '' : '?'} ${owner}`).join(', '),
        happened,
      )
    })

  test('the first look → what is there already', () => {
    const changes = changesOf(firstLook(0), look('0 a | b'))
    assert.deepEqual(
      changes.map(({ type, owner }) => `${type} ${owner}`),
      ['granted a', 'waiting b'],
    )
  })
})
