import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedLimit } from './limiter-names.js'

void test('a long key → a short name, and each is counted for itself', async () => {
  const { names, judged } = namedLimit()
  const long = 'k'.repeat(16_000)
  for (const key of ['k'.repeat(100), `${long}1`, `${long}2`, `${long}1`, '{'.repeat(50), '🔒'.repeat(51)])
    await judged(key)
  const [kept, one, two, again, braces, locks] = names.map((name) => name.replace('default:1/1000:', ''))
  assert.equal(kept, 'k'.repeat(100))
  assert.match(String(one), /^k{60}~[\da-f]{64}$/)
  assert.match(String(two), /^k{60}~[\da-f]{64}$/)
  assert.notEqual(one, two)
  assert.equal(one, again)
  assert.match(String(braces), /^(%7B){20}~[\da-f]{64}$/)
  assert.match(String(locks), /^(🔒){30}~[\da-f]{64}$/u)
  // Whoever sends the name of another's limiter as a key has one of their own.
  await judged(String(one))
  assert.notEqual(names.at(-1), names[1])
})
