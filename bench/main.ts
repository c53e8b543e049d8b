import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { startRedis } from '../test/support/redis-server.js'
import { asText, keep, writePage } from './report.js'
import { scenarios } from './scenarios.js'
import type { Bench, Scenario } from './support/bench.js'
import type { Conditions, Result } from './support/result.js'
import { ServerMeter } from './support/server-meter.js'

const USAGE = `npm run bench -- [SCENARIO…] [--quick] [--rounds N]

${scenarios.map(({ id, title }) => `  ${id.padEnd(5)} ${title}`).join('\n')}

  --quick      each in seconds, less exact; nothing is kept
  --rounds N   at least 3 (the default)`

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
      help: { type: 'boolean', default: false },
    },
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 3) throw new UsageError('--rounds takes a number from 3')
  return { ...values, rounds, chosen: choose(positionals) }
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
    const from = performance.now()
    const result: Result = { id, title, about, conditions, ...(await run(bench)) }
    bench.log(`  ${((performance.now() - from) / 1000).toFixed(1)} s`)
    keep(result)
    results.push(result)
    console.log(asText(result))
  }
  return results
}

const main = async (): Promise<void> => {
  const { chosen, quick, rounds, help } = readArguments()
  if (help) {
    console.log(USAGE)
    return
  }
  const server = await openServer()
  try {
    const log = (text: string): void => console.error(text)
    const results = await runAll(chosen, { quick, rounds, server, log })
    const targets = results.flatMap((result) => result.targets)
    const reached = targets.filter((target) => target.reached).length
    console.log(`\n${reached} of ${targets.length} targets reached. Written: ${writePage(quick)}`)
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
