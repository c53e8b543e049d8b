import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recipe, type Running } from './recipe.js'

const urlOf = async (running: Running): Promise<string> => (await running.said(/listening on (http\S+)/))[1] ?? ''

let sent = 0

/** As a proxy sends it on. A key of its own for each request is no way around the limit. */
const send = (url: string, address: string, method = 'GET'): Promise<Response> =>
  fetch(url, { method, headers: { 'x-forwarded-for': address, 'x-api-key': String((sent += 1)) } })

/** On a machine that is too busy to ask Redis within a second, the program decides without it, and says so by the missing field. */
const isDecided = (response: Response): boolean => response.status !== 503 && response.headers.has('ratelimit')

/** How many answers had this status. */
const having = (answers: readonly Response[], status: number): number =>
  answers.filter((answer) => answer.status === status).length

/** What Redis decided about 30 requests of one caller, to both processes in turn. */
const thirtyOf = async (urls: readonly string[]): Promise<Response[]> => {
  for (let caller = 1; caller <= 20; caller += 1) {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => send(urls[index % 2]!, `192.0.2.${caller}`)),
    )
    if (answers.every(isDecided)) return answers
  }
  throw new Error('Redis never decided')
}

/** Logins from one address, to both processes in turn, until one is refused. */
const loginsUntilRefused = async (urls: readonly string[]): Promise<Response[]> => {
  const answers: Response[] = []
  while (having(answers, 429) === 0 && answers.length < 60)
    answers.push(await send(`${urls[answers.length % 2]}/login`, '198.51.100.1', 'POST'))
  return answers
}

void test('requests to two processes → one limit for both, 429 with Retry-After; without Redis one stays open, one closes', async (t) => {
  const here = await recipe(t, 'api-limits.md')
  if (here === undefined) return
  const env = { PORT: '0', TRUST_PROXY: 'loopback' }
  const urls = await Promise.all([1, 2].map(() => urlOf(here.start('api.mjs', [], env))))

  const answers = await thirtyOf(urls)
  assert.deepEqual([having(answers, 200), having(answers, 429)], [20, 10])
  assert.equal((await send(urls[0]!, '198.51.100.2')).status, 200)

  const logins = await loginsUntilRefused(urls)
  // One that was given up, and got 503, may have counted.
  const [passed, undecided] = [having(logins, 200), having(logins, 503)]
  assert.ok(passed <= 5 && passed + undecided >= 5, `${passed} passed, ${undecided} undecided`)
  const refused = logins.at(-1)!
  assert.equal(refused.status, 429)
  const wait = Number(refused.headers.get('retry-after'))
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, String(wait))
  assert.match(refused.headers.get('ratelimit-policy') ?? '', /"login";q=5;w=60/)

  await here.server.stop()
  for (const url of urls) assert.equal((await send(url, '198.51.100.3')).status, 200)
  for (const url of urls) assert.equal((await send(`${url}/login`, '198.51.100.3', 'POST')).status, 503)
})
