import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recipe, type Running } from './recipe.js'

const urlOf = async (running: Running): Promise<string> => (await running.said(/listening on (http\S+)/))[1] ?? ''

const statusOf = async (url: string, key: string, method = 'GET'): Promise<number> =>
  (await fetch(url, { method, headers: { 'x-api-key': key } })).status

/** How many answers had each status. */
const tally = (answers: readonly number[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const status of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

void test('requests to two processes → one limit for both, 429 with Retry-After; without Redis one stays open, one closes', async (t) => {
  const here = await recipe(t, 'api-limits.md')
  if (here === undefined) return
  const urls = await Promise.all([1, 2].map(() => urlOf(here.start('api.mjs', [], { PORT: '0' }))))
  const all = (times: number, path: string, key: string, method?: string): Promise<number[]> =>
    Promise.all(Array.from({ length: times }, (_, i) => statusOf(`${urls[i % 2]}${path}`, key, method)))

  assert.deepEqual(tally(await all(30, '/', 'ada')), { 200: 20, 429: 10 })
  assert.deepEqual(tally(await all(1, '/', 'bob')), { 200: 1 })
  assert.deepEqual(tally(await all(8, '/login', 'cleo', 'POST')), { 200: 5, 429: 3 })

  const refused = await fetch(`${urls[0]}/login`, { method: 'POST', headers: { 'x-api-key': 'dora' } })
  assert.equal(refused.status, 429)
  const wait = Number(refused.headers.get('retry-after'))
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, String(wait))
  assert.match(refused.headers.get('ratelimit-policy') ?? '', /"all";q=20;w=60, "login";q=5;w=60/)

  await here.server.stop()
  assert.deepEqual(tally(await all(4, '/', 'ada')), { 200: 4 })
  assert.deepEqual(tally(await all(4, '/login', 'erik', 'POST')), { 503: 4 })
})
