import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { startRedis } from '../test/support/redis-server.js'
import { beside } from './beside.js'
import { compareFailures } from './failures.js'
import { guard } from './guard.js'
import { holdfast } from './participants/holdfast.js'
import { slowed } from './participants/trials.js'
import { asText, keep as keepResult, summaryText, writePage } from './output/report.js'
import { scenarios } from './scenarios.js'
import type { Bench, Scenario } from './measure/bench.js'
import type { Conditions, Result } from './base/result.js'
import { ServerMeter } from './measure/server-meter.js'

const USAGE = `npm run bench -- [SCENARIO…] [--quick] [--rounds N] [--only NAME]
npm run bench -- guard [SCENARIO…] [--trial | --keep]
npm run bench -- beside DIR [SCENARIO…] [--rounds N] [--seconds N]
npm run bench -- failures [--rounds N]

${scenarios.map(({ id, title }) => `  ${id.padEnd(5)} ${title}`).join('\n')}

  --quick      each in seconds, less exact; nothing is kept
  --rounds N   at least 3 (the default)
  --only NAME  of G2, K, N, P, XK and Z the rows whose name begins so; nothing is kept

  guard        fails when a ratio is lower than what bench/guard.json keeps; a few minutes at most
  --trial      the guard looks at one that is slowed on purpose, and has to fail
  --keep       the guard writes down what it measures, instead of comparing

  beside       another build of holdfast, in DIR, and this one in turns: 30 rounds, half a second each. Each turn
               begins with the other one's code in the caches; --seconds 5 shows how fast both are in the long run

  failures     what each library does in six failures: the table of docs/comparison.md; about five minutes`

const LOOK = `
Times as good: above 1 holdfast is better than the best of the others, in the same run. This was a look: each had one short turn, mostly of a
third of a second, and the next look may differ by a quarter. Without --quick it is measured; docs/benchmarks.md has that.`

class UsageError extends Error {}

const choose = (names: readonly string[]): readonly Scenario[] => {
  const known = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  const chosen = names.map((name) => {
    const scenario = known.get(name.toLowerCase())
    if (scenario === undefined) throw new UsageError(`there is no scenario '${name}'`)
    return scenario
  })
  return chosen.length > 0 ? chosen : scenarios
}

const readArguments = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '0.5' },
      only: { type: 'string' },
      trial: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [command, ...checks] = positionals
  const asked = Number(values.rounds)
  if (!Number.isInteger(asked) || asked < 3) throw new UsageError('--rounds takes a number from 3')
  const rounds = values.quick ? 1 : asked
  const seconds = Number(values.seconds)
  if (!(seconds > 0 && seconds <= 60)) throw new UsageError('--seconds takes a number up to 60')
  if (command === 'beside') return { ...values, rounds, checks: undefined, chosen: [], beside: checks, seconds }
  if (command === 'failures') return { ...values, rounds, checks: undefined, chosen: [], failures: true }
  return command === 'guard'
    ? { ...values, rounds, checks, chosen: [] }
    : { ...values, rounds, checks: undefined, chosen: choose(positionals) }
}

const openServer = async (): Promise<Bench['server']> => {
  try {
    const redis = await startRedis()
    return { redis, meter: new ServerMeter(redis.url) }
  } catch (error) {
    if ((error as { code?: string }).code !== 'NO_REDIS') throw error
    console.log('There is no redis-server on the PATH: what needs one is left out.')
    return undefined
  }
}

const conditionsOf = async ({ quick, server }: Bench, rounds: number): Promise<Conditions> => {
  const version = await server?.meter.version()
  return {
    date: new Date().toISOString().slice(0, 10),
    quick,
    rounds,
    node: process.versions.node,
    ...(version !== undefined && { server: version }),
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    load: loadavg()[0] ?? 0,
  }
}

const runAll = async (chosen: readonly Scenario[], bench: Bench): Promise<readonly Result[]> => {
  const results: Result[] = []
  for (const { id, title, about, needsServer, rounds = bench.rounds, run } of chosen) {
    if (needsServer && bench.server === undefined) continue
    const conditions = await conditionsOf(bench, rounds)
    bench.log(`\n${id}: ${title}`)
    await bench.server?.meter.clear()
    const from = performance.now()
    const result: Result = { id, title, about, conditions, ...(await run({ ...bench, rounds })) }
    bench.log(`  ${((performance.now() - from) / 1000).toFixed(1)} s`)
    if (bench.only === undefined) await keepResult(result)
    results.push(result)
    console.log(asText(result))
  }
  return results
}

/** Everything that was asked for, and a line for each at the end. */
const measureAll = async (chosen: readonly Scenario[], bench: Bench): Promise<void> => {
  const results = await runAll(chosen, bench)
  const page = bench.only === undefined ? writePage(bench.quick) : 'nothing'
  console.log(`\n${summaryText(results)}`)
  const targets = results.flatMap((result) => result.targets)
  const reached = targets.filter((target) => target.reached).length
  if (bench.quick) console.log(LOOK)
  console.log(`\n${reached} of ${targets.length} targets reached. Written: ${page}`)
}

const main = async (): Promise<void> => {
  const { chosen, checks, quick, rounds, only, trial, keep, help, ...more } = readArguments()
  if (help) {
    console.log(USAGE)
    return
  }
  if ('failures' in more) return compareFailures(rounds, console.error)
  const server = await openServer()
  const bench = { quick, rounds, only, server, log: (text: string): void => console.error(text) }
  process.once('SIGINT', () => void server?.redis.stop().finally(() => process.exit(130)))
  try {
    if ('beside' in more) await beside(bench, more.beside, more.seconds)
    else if (checks === undefined) await measureAll(chosen, bench)
    else if (!(await guard(bench, { checks, keep, subject: trial ? slowed.name : holdfast.name }))) process.exitCode = 1
  } finally {
    server?.meter.end()
    await server?.redis.stop()
  }
}

try {
  await main()
} catch (error) {
  const wrong = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true
  console.error(wrong ? `${(error as Error).message}\n\n${USAGE}` : error)
  process.exitCode = wrong ? 2 : 1
}
