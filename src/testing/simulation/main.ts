/**
 * npm run simulate -- [--seconds N] [--histories H] [--from N] [--first] [--family NAME]   many, on all cores;
 *     --first: to the first violation; --family: one of those in families.ts only
 * npm run simulate -- --seed SEED [--trace] [--whole]         one history, the same text every time
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '../../base/clock.js'
import { shrink } from './shrink.js'
import { FAMILIES, pairsOfAll, seedsOf, weatherOfSeed } from './families.js'
import { simulate } from './simulate.js'

/** What one core has done. */
interface Share {
  histories: number
  grants: number
  readonly failed: number[]
  readonly counts: [string, number][]
}

/** From here on a run is long enough to have met every pair. */
const LONG = 600
/** A pair that chance has left out is looked for in so many further histories that are about it. */
const SEARCHED = 400
/** After so many failing histories a core has seen enough. */
const MOST_FAILED = 20
/** How many failing histories are shown whole. */
const SHOWN = 3

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    from: { type: 'string', default: '1' },
    family: { type: 'string' },
    histories: { type: 'string', default: 'Infinity' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
    seeds: { type: 'string' },
    cores: { type: 'string', default: String(availableParallelism()) },
    share: { type: 'string' },
  },
})

const families = FAMILIES.filter(({ name }) => values.family === undefined || values.family === name)
if (families.length === 0)
  throw new Error(`no family '${values.family ?? ''}': ${FAMILIES.map(({ name }) => name).join(', ')}`)
const PAIRS = pairsOfAll(families)
const seedOf = seedsOf(families)

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/** Every `cores`-th history from this one on, until the time is up. */
const work = async (share: number, cores: number, seconds: number): Promise<Share> => {
  const until = systemClock.monotonic() + seconds * 1000
  const counts = new Map<string, number>()
  const done: Share = { histories: 0, grants: 0, failed: [], counts: [] }
  const end = Number(values.from) + Number(values.histories)
  for (let n = Number(values.from) + share; n < end && systemClock.monotonic() < until; n += cores) {
    const seed = seedOf(n)
    const outcome = await simulate(seed)
    done.histories++
    done.grants += outcome.grants
    if (outcome.violations.length > 0) done.failed.push(seed)
    for (const [pair, count] of outcome.counts) counts.set(pair, (counts.get(pair) ?? 0) + count)
    if (done.failed.length >= (values.first ? 1 : MOST_FAILED)) break
  }
  done.counts.push(...counts)
  return done
}

/** All cores at work; `--first` ends them all with the first violation. */
const workAll = async (cores: number): Promise<Share[]> => {
  const shares: Share[] = []
  const children = Array.from({ length: cores }, (_, index) =>
    fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), '--share', String(index)], {
      execArgv: ['--enable-source-maps', '--unhandled-rejections=strict'],
      env: { ...process.env, SIMULATION_CORES: String(cores) },
    }),
  )
  await Promise.all(
    children.map(async (child) => {
      child.once('message', (message) => {
        shares.push(message as Share)
        const found = (message as Share).failed.length > 0
        if (values.first && found) for (const other of children) if (other !== child) other.kill()
      })
      const [code] = (await once(child, 'exit')) as [number | null]
      if (code !== 0 && code !== null) throw new Error(`a core ended with ${code}`)
    }),
  )
  return shares
}

const show = async (seed: number): Promise<void> => {
  const { outcome, masked } = await shrink(seed)
  say(`\nSeed ${seed}; ${outcome.parts.length - masked.size} of its steps and faults are enough:`)
  for (const line of outcome.trace.slice(-80)) say(line)
  for (const violation of outcome.violations) say(`✘ seed ${seed}: ${violation}`)
  say(`Again: npm run simulate -- --seed ${seed} --trace`)
}

const table = (counts: ReadonlyMap<string, number>): void => {
  const points = [...new Set(PAIRS.map(([, point]) => point))]
  const faults = [...new Set(PAIRS.map(([fault]) => fault))]
  say(`\n${'times hit'.padEnd(22)}${points.map((point) => point.replace('lock/', '').padStart(14)).join('')}`)
  for (const fault of faults) {
    const cells = points.map((point) => {
      const possible = PAIRS.some(([one, other]) => one === fault && other === point)
      return (possible ? String(counts.get(`${fault} × ${point}`) ?? 0) : '·').padStart(14)
    })
    say(`${fault.padEnd(22)}${cells.join('')}`)
  }
}

/** Goes on with histories that aim at this pair, until one has met it. */
const lookFor = async ([fault, point]: (typeof PAIRS)[number], counts: Map<string, number>): Promise<number[]> => {
  const pair = `${fault} × ${point}`
  const failed: number[] = []
  let n = Number(values.from) + Math.min(Number(values.histories), 1e8)
  for (let tried = 0; tried < SEARCHED && !counts.has(pair); n++) {
    const seed = seedOf(n)
    const { aim } = weatherOfSeed(seed)
    if (aim?.fault !== fault || aim.point !== point) continue
    const outcome = await simulate(seed)
    tried++
    for (const [met, count] of outcome.counts) counts.set(met, (counts.get(met) ?? 0) + count)
    if (outcome.violations.length > 0) failed.push(seed)
  }
  return failed
}

const many = async (): Promise<number> => {
  const cores = Number(values.cores)
  const began = systemClock.monotonic()
  const shares = await workAll(cores)
  const counts = new Map<string, number>()
  for (const one of shares) for (const [pair, count] of one.counts) counts.set(pair, (counts.get(pair) ?? 0) + count)
  const failed = shares.flatMap((one) => one.failed)
  const long = Number(values.seconds) >= LONG
  if (long) for (const pair of PAIRS) failed.push(...(await lookFor(pair, counts)))
  for (const seed of failed.slice(0, SHOWN)) await show(seed)
  if (failed.length > 0) say(`\nFailing seeds: ${failed.join(' ')}`)
  table(counts)
  const histories = shares.reduce((sum, one) => sum + one.histories, 0)
  const grants = shares.reduce((sum, one) => sum + one.grants, 0)
  const seconds = (systemClock.monotonic() - began) / 1000
  const missed = PAIRS.map((pair) => pair.join(' × ')).filter((pair) => !counts.has(pair))
  say(
    `\n${(histories / seconds).toFixed(0)} histories/s on ${cores} cores, ${grants} acquisitions, ${PAIRS.length} pairs`,
  )
  for (const what of ['deadlocks', 'reports', 'victims']) if (counts.has(what)) say(`${counts.get(what)} ${what}`)
  if (long && missed.length > 0) say(`✘ ${missed.length} pairs never happened: ${missed.join('; ')}`)
  else if (missed.length > 0) say(`${missed.length} pairs did not happen in so short a time`)
  const wrong = failed.length + (long ? missed.length : 0)
  say(`${histories} histories, ${failed.length} violations`)
  return wrong > 0 ? 1 : 0
}

/** Seeds that failed once; they may not again. */
const known = async (file: string): Promise<number> => {
  const seeds = JSON.parse(readFileSync(file, 'utf8')) as number[]
  let failed = 0
  for (const seed of seeds) {
    const outcome = await simulate(seed)
    if (outcome.violations.length === 0) continue
    failed++
    await show(seed)
  }
  say(`${seeds.length} histories, ${failed} violations`)
  return failed > 0 ? 1 : 0
}

const one = async (seed: number): Promise<number> => {
  const outcome = await simulate(seed, { trace: true })
  if (outcome.violations.length > 0 && !values.whole) await show(seed)
  else if (values.trace) for (const line of outcome.trace) say(line)
  say(`1 histories, ${outcome.violations.length > 0 ? 1 : 0} violations`)
  return outcome.violations.length > 0 ? 1 : 0
}

if (values.share !== undefined) {
  const done = await work(Number(values.share), Number(process.env['SIMULATION_CORES']), Number(values.seconds))
  process.send?.(done, () => process.exit(0))
} else if (values.seed !== undefined) process.exitCode = await one(Number(values.seed))
else if (values.seeds !== undefined) process.exitCode = await known(values.seeds)
else process.exitCode = await many()
