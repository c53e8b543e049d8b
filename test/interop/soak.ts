/** Processes of both sides on one fair lock, killed and stopped: `soak.js --minutes N [--seed S] [--java N] [--node N] [--kill-java]`. */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { mixedSoak } from './support/mixed-soak.js'
import { told } from './support/soak-report.js'

const text = { type: 'string' } as const
const { values } = parseArgs({
  options: { minutes: text, seed: text, java: text, node: text, 'kill-java': { type: 'boolean' } },
})
const { minutes = '10', seed = String(Date.now() % 1_000_000), java = '2', node = '2' } = values
const options = {
  seconds: 60 * Number(minutes),
  seed: Number(seed),
  java: Number(java),
  node: Number(node),
  killJava: values['kill-java'] === true,
}
if (!(options.seconds > 0) || ![options.seed, options.java, options.node].every(Number.isInteger)) {
  throw new RangeError('--minutes N [--seed S] [--java N] [--node N] [--kill-java]')
}

// Whatever ends this process ends the others: each has an `exit` listener here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130))
process.setMaxListeners(0)

console.log(`soak beside Redisson: ${minutes} minutes, seed ${seed}, ${java} processes of Redisson’s, ${node} of ours`)
const outcome = await mixedSoak(options)
for (const line of told(outcome)) console.log(line)
const failed = [outcome.violations, outcome.mishaps, outcome.left].filter((list) => list.length > 0).length
console.log(`\n${3 - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
