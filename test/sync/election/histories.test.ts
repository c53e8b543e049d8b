import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Leader, Term } from 'holdfast'
import { stage } from '../../support/line-stage.js'
import { seeded } from '../../support/random.js'

/** HOLDFAST_HISTORIES=500 HOLDFAST_SEED=1: so many, from this seed on. */
const HISTORIES = Number(process.env['HOLDFAST_HISTORIES'] ?? 6)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1e6)
const LEASE = 3000
const MINUTES = 3

/**
 * Candidates in several processes, whose connections fall silent and slow at random, and whose leaders resign, fail and finish slowly. Never do two
 * believe that they lead; terms only grow; observers see them in order; and when all is well again, somebody leads.
 */
const play = async (seed: number): Promise<{ terms: number; lost: number; seen: number }> => {
  const draw = seeded(seed)
  const pick = (most: number): number => Math.floor(draw() * most)
  const { clock, clients, drivers, pause, run } = await stage(4, 'fencedLock')
  const stop = new AbortController()
  const standing: (Term & { place: number })[] = []
  let [newest, terms, lost] = [0n, 0, 0]
  const check = (): void => {
    // Those whose work has ended are looked at as well: their signals abort before another leads.
    const believed = standing.filter(({ signal }) => !signal.aborted)
    assert.ok(
      believed.length <= 1,
      `seed ${seed}: ${believed.map(({ place, term }) => `${place} in ${term}`).join(', ')}`,
    )
  }
  const work = async (place: number, term: Term): Promise<void> => {
    assert.ok(term.term > newest, `seed ${seed}: term ${term.term} after ${newest}`)
    newest = term.term
    terms++
    const standingTerm = { ...term, place, signal: term.signal }
    standing.push(standingTerm)
    const until = clock.monotonic() + 1000 + pick(20_000)
    while (!term.signal.aborted && clock.monotonic() < until) {
      check()
      await pause(37)
    }
    if (term.signal.aborted) lost++
    else if (draw() < 0.3) throw new Error('the work failed')
    else void clients[place]!.election('x').resign()
    if (draw() < 0.5) await pause(pick(4000))
  }
  const candidate = async (place: number): Promise<void> => {
    while (!stop.signal.aborted) {
      const leading = clients[place]!.election<number>('x').lead(
        { value: place, lease: LEASE, signal: stop.signal },
        (term) => work(place, term),
      )
      await leading.catch((error: unknown) => {
        assert.match(String(error), /the work failed/)
      })
    }
  }
  const seen: Leader[] = []
  const observer = clients[3]!.election('x').observe()
  const observing = (async () => {
    for await (const leader of observer) if (leader !== undefined) seen.push(leader)
  })()
  for (const client of clients) client.on('error', () => undefined)
  const all = [0, 1, 2].map(candidate)

  for (const end = clock.monotonic() + MINUTES * 60_000; clock.monotonic() < end;) {
    const driver = drivers[pick(4)]!
    const trouble = pick(4)
    if (trouble === 0) driver.mute = true
    if (trouble === 1) driver.lag = pick(1500)
    await clock.advance(pick(2 * LEASE))
    check()
    for (const one of drivers) if (draw() < 0.7) [one.mute, one.lag] = [false, 0]
  }
  for (const one of drivers) [one.mute, one.lag] = [false, 0]
  const before = terms
  await clock.advance(60_000)
  assert.ok(terms > before, `seed ${seed}: nobody leads any more`)
  const leader = await run(clients[0]!.election('x').leader())
  stop.abort()
  await run(Promise.all(all))
  assert.equal(seen.at(-1)?.term, leader?.term ?? seen.at(-1)?.term, `seed ${seed}: what the observer saw last`)
  seen.forEach(({ term }, i) =>
    assert.ok(i === 0 || term > seen[i - 1]!.term, `seed ${seed}: seen ${seen.map((one) => one.term).join()}`),
  )
  await observer.return?.()
  await run(observing)
  await run(Promise.all(clients.map((client) => client.close())))
  return { terms, lost, seen: seen.length }
}

void test(`${HISTORIES} histories from seed ${SEED} on → one leader at a time, in terms that grow`, async (t) => {
  const sum = { terms: 0, lost: 0, seen: 0 }
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const { terms, lost, seen } = await play(seed)
    sum.terms += terms
    sum.lost += lost
    sum.seen += seen
  }
  t.diagnostic(`${sum.terms} terms, ${sum.lost} of them lost, ${sum.seen} seen`)
  assert.ok(sum.lost > 0 && sum.seen > 0)
})
