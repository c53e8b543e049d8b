import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { times, watch } from '../../suites/contract/lock/kind.js'
import { redisEngine, scenarios } from '../../support/engines.js'

const PROGRAM = fileURLToPath(new URL('../../support/storm-process.js', import.meta.url))
const PERMITS = 1000
const LEASE = 100

type Counted = readonly [from: number, until: number, count: number]

interface Visit {
  readonly counted: readonly Counted[]
  readonly granted: number
}

const visitor = async (...words: string[]): Promise<Visit> => {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', PROGRAM, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  assert.equal(code, 0)
  return JSON.parse(said) as Visit
}

/** How many were counted on at once, at most. */
const mostAtOnce = (all: readonly Counted[]): number => {
  const changes = all.flatMap(([from, until, count]) => [
    [from, count],
    [until, -count],
  ]) as [at: number, by: number][]
  // What ends at the moment at which another begins is over.
  changes.sort(([a, x], [b, y]) => a - b || x - y)
  let [now, most] = [0, 0]
  for (const [, by] of changes) most = Math.max(most, (now += by))
  return most
}

/** In one step of the server's: how many there are to have, and how many somebody has, expired or not. */
const COUNT = "return { tonumber(redis.call('GET', KEYS[1])), redis.call('ZCARD', KEYS[2]) }"

void describe('a storm of permits that expire', () => {
  const scenario = scenarios(redisEngine)

  scenario('4 processes, 1,000 permits of 100 ms → never more than there are, and none is lost', async (w) => {
    const p = (await w.connect()).permitSemaphore(w.id)
    await p.trySetPermits(PERMITS)
    const storm = watch(Promise.all(times(4, () => visitor(w.url, w.id, String(LEASE), '20', '6000'))))
    const seen = { looks: 0, empty: 0 }
    while (!storm.settled) {
      const [available = NaN, out = NaN] = (await w.raw('EVAL', COUNT, 2, w.id, `{${w.id}}:timeout`)) as number[]
      assert.equal(available + out, PERMITS, `${available} to have, and ${out} out`)
      assert.ok(available >= 0)
      seen.looks++
      if (available < 60) seen.empty++
      await w.pass(3)
    }
    const visits = await storm.promise
    const most = mostAtOnce(visits.flatMap(({ counted }) => counted))
    assert.ok(most <= PERMITS, `${most} at once`)
    const granted = visits.reduce((sum, visit) => sum + visit.granted, 0)
    assert.ok(granted > 5 * PERMITS && most > PERMITS / 10 && seen.empty > 0, `no storm: ${granted}, ${most} at once`)
    await w.pass(2 * LEASE)
    assert.deepEqual([await p.available(), await p.acquired()], [PERMITS, 0])
    const all = await w.run(p.acquireMany(PERMITS, { lease: 60_000, wait: 5000 }))
    assert.equal(await p.tryRelease(all.map(({ id }) => id)), PERMITS)
    await p.delete()
  })
})
