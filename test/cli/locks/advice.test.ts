import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ListedLock } from 'holdfast'
import { advice } from '#src/cli/locks/advice.js'
import { signOf } from '#src/cli/locks/signs.js'

const OWNER = '00000000-0000-8000-8000-000000000000:55'

const adviceFor = (remaining: number, waiting: ListedLock['waiting'] = []): string => {
  const holder = { owner: OWNER, client: OWNER.slice(0, 36), mode: 'exclusive', count: 1 } as const
  const lock: ListedLock = { name: 'l', key: 'l', kind: 'lock', holders: [holder], waiting, remaining }
  return advice(lock, signOf, (owner) => `release ${owner}`).join(' ')
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

const msIn = (span: string): number =>
  [...span.matchAll(/(\d+)(ms|[smh])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? NaN),
    0,
  )

/** How much is left of a lease some ms later, if its client renews it whenever a third is over. */
const renewed = (lease: number, left: number, later: number): number => lease - ((lease - left + later) % (lease / 3))

void describe('what is said of a lock whose holder nothing is known of', () => {
  for (const lease of [30_000, 600_000, 7_200_000])
    test(`a lease of ${lease} ms → the next look tells a holder that renews it from one that is gone`, () => {
      for (let part = 67; part <= 100; part++) {
        const left = (lease * part) / 100
        const said = adviceFor(left)
        const [, again = '', more = '', less = ''] =
          /Show the lock again in (\w+)\. If clearly more than (\w+) is left .* alive\. If about (\w+) or less is left/.exec(
            said,
          ) ?? []
        assert.ok(again !== '' && more === less, said)
        assert.ok(renewed(lease, left, msIn(again)) > msIn(more) + lease / 7, `alive at ${part} %: ${said}`)
        assert.ok(left - msIn(again) < msIn(less) + lease / 14, `gone at ${part} %: ${said}`)
      }
    })

  test('calls wait for it → the command follows, with how to find out first', () => {
    const waiting = [{ owner: 'b:1', client: 'b' }]
    assert.match(adviceFor(3_000_000, waiting), /clearly more than 25m00s is left[^]*release 00000000-/)
    assert.doesNotMatch(adviceFor(50_000, waiting), /release 0/)
  })
})
