import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { SubscriberCounts } from '#src/core/server/subscriber-counts.js'
import { secretOf, wireOwner } from '#src/keys.js'
import { grantTo } from '../../support/grant.js'
import { seeded } from '../../support/random.js'
import { grantOf, isProven } from '#src/core/line/grant-message.js'

const CLIENT = '0f0f0f0f-0f0f-810f-8f0f-0f0f0f0f0f0f'
const OWNER = wireOwner(CLIENT, secretOf(77), 12)
const STAMP = '1767225600000123'
const PROOF = '0123456789abcdef'

void describe('a grant’s message', () => {
  void test('as the scripts write it → read', () => {
    const { text, proof, ...read } = grantOf(grantTo(OWNER, STAMP, ' 13 15 +')) ?? assert.fail()
    assert.deepEqual(read, { number: 12, stamp: 1767225600000123, behind: [13, 15], followed: true })
    assert.equal(`${text} ${proof}`, grantTo(OWNER, STAMP, ' 13 15 +'))
    assert.deepEqual(grantOf(grantTo(OWNER, STAMP))?.behind, [])
    assert.equal(grantOf(grantTo(OWNER, STAMP, ' 13'))?.followed, false)
  })

  void test('the longest that there is → read', () => {
    const behind = Array.from({ length: 63 }, (_, i) => 9_999_999_900 + i)
    assert.deepEqual(grantOf(grantTo(OWNER, STAMP, ` ${behind.join(' ')}`))?.behind, behind)
  })

  void test('anything else → no grant', () => {
    const good = grantTo(OWNER, STAMP, ' 13 +')
    const stamps = ['soon', 'NaN', '-1', '+1', '1e15', '0x10', '1.5', 'Infinity', '', ' ', '１７', '99999999999999999']
    const others = [
      '',
      '0',
      OWNER,
      `${OWNER} soon`,
      `${OWNER} ${STAMP}`,
      `0 ${STAMP} ${PROOF}`,
      `-1 ${STAMP} ${PROOF}`,
      `012 ${STAMP} ${PROOF}`,
      `12 ${STAMP}`,
      `12 ${STAMP} + 13 ${PROOF}`,
      `12 ${STAMP} ++ ${PROOF}`,
      `12 ${STAMP} -13 ${PROOF}`,
      `12 ${STAMP} 13.0 ${PROOF}`,
      `12 ${STAMP} ${PROOF.toUpperCase()}`,
      `12 ${STAMP} ${PROOF}0`,
      `12 ${STAMP} ${PROOF.slice(1)}`,
      ...[' ', '\n', '\0', '\r\n', '\u00a0', '\ufffd'].flatMap((extra) => [extra + good, good + extra]),
      good.replaceAll(' ', '  '),
      good.replaceAll(' ', '\t'),
      good + good,
      good.slice(0, -1),
      `12 ${STAMP}${' 13'.repeat(64)} ${PROOF}`,
      `12 ${STAMP}${' 13'.repeat(300_000)} ${PROOF}`,
      'x'.repeat(1_000_000),
      '1'.repeat(1_000_000),
      ...stamps.map((stamp) => `12 ${stamp} ${PROOF}`),
    ]
    for (const payload of others) assert.equal(grantOf(payload), undefined, JSON.stringify(payload.slice(0, 80)))
  })

  void test('changed at random → no grant, or one without a proof', () => {
    const random = seeded(11)
    const good = grantTo(OWNER, STAMP, ' 13 15 +')
    for (let round = 0; round < 20_000; round++) {
      const bytes = Buffer.from(good)
      for (let n = 0; n <= random() * 3; n++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
      const cut = random() < 0.2 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes
      const payload = cut.toString()
      if (payload === good) continue
      const grant = grantOf(payload)
      if (grant === undefined) continue
      assert.ok(Number.isSafeInteger(grant.number) && Number.isFinite(grant.stamp) && grant.stamp >= 0)
      assert.ok(!isProven(grant, OWNER), payload)
    }
  })

  void test('of another owner, another moment or another line → not proven', () => {
    const real = grantTo(OWNER, STAMP, ' 13 +')
    const grant = grantOf(real) ?? assert.fail()
    assert.ok(isProven(grant, OWNER))
    const guesses = [wireOwner(CLIENT, secretOf(78), 12), `${OWNER}:write`, `${OWNER}0`, `${CLIENT}:12`]
    for (const wire of guesses) assert.ok(!isProven(grant, wire), wire)
    const proof = real.slice(-16)
    for (const text of ['12 1767225600000124 13 +', `13 ${STAMP} 13 +`, `12 ${STAMP} 14 +`, `12 ${STAMP} 13`])
      assert.ok(!isProven(grantOf(`${text} ${proof}`) ?? assert.fail(text), OWNER), text)
  })
})

for (const counted of [true, false]) {
  void test(`called again and again, and the server ${counted ? 'counts' : 'does not count'} us → ${counted ? 'nobody is warned' : 'one warning'}`, async () => {
    const clock = virtualClock()
    const warnings: string[] = []
    let asked = 0
    const counting = new SubscriberCounts(clock, (warning) => warnings.push(warning))
    for (let ms = 0; ms < 10_000; ms += 10) {
      counting.called(() => {
        asked++
        return Promise.resolve(counted)
      })
      await clock.advance(10)
    }
    assert.equal(warnings.length, counted ? 0 : 1)
    assert.equal(asked, counted ? 3 : 1)
  })
}
