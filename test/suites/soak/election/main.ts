import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '#src/testing/random.js'
import { type End, ENDS, type Gap, LEASE, Place } from './place.js'

/**
 * Five candidates in processes of their own; again and again the leader resigns, is told to end, killed, stopped, cut off. Nobody may
 * believe that it leads when another has begun to; terms only grow; how long nobody led is told for each kind of end.
 *
 *     npm run soak -- election --minutes 10 [--seed S]
 */

/** What a busy machine takes to start running somebody, ms. */
const SLACK = 1500
const CANDIDATES = 5
/** LeaseDuration 15 s, renewed every 2 s at least and 4.4 s at most; candidates look as often. docs/leaders.md has the arithmetic. */
const CLIENT_GO = { after: 4400, least: 13_000, most: 24_000 }
const PROXIED = 2

/** The longest that may pass without a leader, ms. */
const mostOf = (end: End): number => (end === 'resign' || end === 'SIGTERM' || end === 'cut' ? SLACK : LEASE + SLACK)

const figure = (took: readonly number[]): string => {
  const sorted = [...took].sort((one, other) => one - other)
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(1)
  return `${took.length} times, median ${at(0.5)} ms, 95 % ${at(0.95)} ms, at most ${at(1)} ms`
}

/** V8 compiles what a candidate runs at its first grant: some 130 functions. */
const byWarmth = (gaps: readonly Gap[]): string => {
  const of = (warm: boolean): number[] => gaps.filter((gap) => gap.warm === warm).map(({ ms }) => ms)
  return `next leader had led before: ${figure(of(true))}; had not: ${figure(of(false))}`
}

const soak = async (minutes: number, seed: number): Promise<boolean> => {
  console.log(`election: ${minutes} minutes, seed ${seed}, ${CANDIDATES} candidates, lease ${LEASE} ms`)
  const random = new Random(seed)
  const place = await Place.open(CANDIDATES, PROXIED)
  const took = new Map<End, Gap[]>(ENDS.map((end) => [end, []]))
  let unbroken = 0
  try {
    for (const until = performance.now() + minutes * 60_000; performance.now() < until;) {
      const end = random.pick(ENDS)
      if (!(await place.fits(end))) continue
      const gap = await place.ends(end)
      if (gap === undefined) unbroken++
      else took.get(end)?.push(gap)
      const ms = gap?.ms ?? 0
      if (ms > mostOf(end)) place.signs.wrong.push(`${end}: nobody led for ${ms.toFixed(0)} ms`)
      await sleep(random.below(300))
    }
  } finally {
    await place.close()
  }
  const wrong = [...place.signs.wrong, ...place.signs.overlaps()]
  for (const [end, gaps] of took) if (gaps.length > 0) console.log(`  ${end}: ${figure(gaps.map(({ ms }) => ms))}`)
  console.log(`  resign, ${byWarmth(took.get('resign') ?? [])}`)
  const { after, least, most } = CLIENT_GO
  console.log(
    `  client-go, calculated from its defaults: kill or stop ${least} to ${most} ms, resign at most ${after} ms`,
  )
  console.log(`  cut, and the term went on: ${unbroken} times`)
  console.log(`  a trip: ${figure(place.trips)}`)
  console.log(`${place.signs.terms.size} terms, ${place.signs.count} signs, ${place.signs.overlaps().length} overlaps`)
  for (const line of wrong.slice(0, 20)) console.log(`✘ ${line}`)
  return wrong.length === 0 && place.signs.terms.size > 1
}

const [flag, value = '1', , seed] = process.argv.slice(2)
const good = await soak(Number(flag === '--minutes' ? value : 1), Number(seed ?? Date.now() % 1_000_000))
process.exit(good ? 0 : 1)
