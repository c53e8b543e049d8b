/**
 * Processes of both sides on one object: `soak.js --minutes N [--kind K] [--seed S]`. On the fair lock, the default, and on
 * read-write locks they are killed and stopped, too: `[--java N] [--node N] [--kill-java]`; those take so long for each share
 * of reads, `[--reads R]…`. `--kind all`: each of the others in turn.
 */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { startRedis } from '../../support/redis-server.js'
import { contend, CONTENDED } from './support/contend.js'
import { mixedSoak } from './support/mixed-soak.js'
import { startRedisson } from './support/redisson.js'
import { isSoaked, SOAKED, type Soaked } from './support/soak-kinds.js'
import { problemsOf, told } from './support/soak-report.js'

const text = { type: 'string' } as const
const several = { type: 'string', multiple: true } as const
const flag = { type: 'boolean' } as const
const { values } = parseArgs({
  options: { minutes: text, kind: text, seed: text, java: text, node: text, reads: several, 'kill-java': flag },
})
const { minutes = '10', kind = 'fair', seed = String(Date.now() % 1_000_000), java = '2', node = '2' } = values
const options = {
  seconds: 60 * Number(minutes),
  seed: Number(seed),
  java: Number(java),
  node: Number(node),
  killJava: values['kill-java'] === true,
}
const shares = (values.reads ?? ['0.95', '0.5']).map(Number)
const known = ['all', ...new Set([...Object.keys(SOAKED), ...Object.keys(CONTENDED)])]
if (
  !(options.seconds > 0) ||
  ![options.seed, options.java, options.node].every(Number.isInteger) ||
  !shares.every((share) => share >= 0 && share <= 1)
) {
  throw new RangeError('--minutes N [--kind K] [--seed S] [--java N] [--node N] [--kill-java] [--reads 0…1]…')
}
if (!known.includes(kind)) throw new RangeError(`--kind ${kind}: one of ${known.join(', ')}`)

// Whatever ends this process ends the others: each has an `exit` listener here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130))
process.setMaxListeners(0)

/** How many of what must be so were not. */
const killedAndStopped = async (soaked: Soaked): Promise<boolean[]> => {
  const found: boolean[] = []
  for (const reads of SOAKED[soaked].modes ? shares : [undefined]) {
    const outcome = await mixedSoak({ ...options, kind: soaked, reads })
    for (const line of [...told(outcome), ...problemsOf(outcome)]) console.log(line)
    found.push(...[outcome.violations, outcome.mishaps, outcome.left].map((list) => list.length === 0))
  }
  return found
}

/** A round of each kind lasts so long at most: then the next has its turn. */
const ROUND = 60

const atWork = async (kinds: readonly string[]): Promise<boolean[]> => {
  const server = await startRedis()
  const redis = new Redis(server.url)
  const { url } = server
  const both = [await startRedisson({ url }), await startRedisson({ url })]
  const outcomes: boolean[] = []
  const rounds = Math.max(1, Math.ceil(options.seconds / ROUND / kinds.length))
  const seconds = options.seconds / rounds / kinds.length
  for (let round = 0; round < rounds; round += 1) {
    for (const one of kinds) {
      const where = { url, redis, java: both, seconds, seed: options.seed + round }
      console.log(`${one}, ${seconds.toFixed(0)} s, seed ${where.seed}`)
      try {
        for (const line of await contend(where, CONTENDED[one] ?? { roles: [] })) console.log(`  ${line}`)
        outcomes.push(true)
      } catch (error) {
        console.log(error)
        outcomes.push(false)
      }
    }
  }
  for (const redisson of both) await redisson.kill()
  redis.disconnect()
  await server.stop()
  return outcomes
}

console.log(
  `soak beside Redisson: ${kind}, ${minutes} minutes, seed ${seed}, ${java} processes of Redisson’s, ${node} of ours`,
)
const outcomes = isSoaked(kind)
  ? await killedAndStopped(kind)
  : await atWork(kind === 'all' ? Object.keys(CONTENDED) : [kind])
const failed = outcomes.filter((good) => !good).length
console.log(`\n${outcomes.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
