#!/usr/bin/env node
// @ts-check
/**
 * npm run soak -- --minutes N [--seed S]           many processes and every fault, on a server of its own
 * npm run soak -- shutdown --minutes N             processes that are sent SIGTERM again and again, and drain
 * npm run soak -- deadlocks --minutes N [--seed S] four processes that wait for one another again and again
 * npm run soak -- election --minutes N [--seed S]  five candidates, whose leader resigns, dies, is stopped or cut off again and again
 * npm run soak -- flights [--histories H]          20,000 simulated histories of flights, or so many
 * npm run interop:soak -- --minutes N [--kind K]   processes of ours and of Redisson on one object
 * npm run interop:tables                           the tables of interop/README.md, measured anew
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { build } from './build.mjs'
import { ensureJava } from './test/java.mjs'
import { root } from './test/parts.mjs'
import { ensureRedis, tryFaketime } from './test/redis.mjs'

const args = process.argv.slice(2)
const beside = args[0] === 'interop' || args[0] === 'tables'
ensureRedis()
if (beside) ensureJava()
else tryFaketime()
if (!(await build({ tests: true }))) process.exit(1)
/** The simulator ends a run that lasts longer than this, s. */
const LONGEST = 86_400
const PROGRAMS = {
  interop: 'interop/soak',
  tables: 'interop/tables',
  shutdown: 'closing/shutdown-soak',
  deadlocks: 'deadlocks/soak',
  election: 'soak/election/main',
}
const named = Object.entries(PROGRAMS).find(([name]) => name === args[0])
const flights = args[0] === 'flights'
const program = flights
  ? join(root, 'dist/testing/simulation/main.js')
  : join(root, `.build/test/suites/${named?.[1] ?? 'soak/main'}.js`)
const given = flights
  ? ['--family', 'flights', '--seconds', String(LONGEST), '--histories', '20000', ...args.slice(1)]
  : args.slice(named === undefined ? 0 : 1)
const flags = ['--enable-source-maps', '--max-old-space-size=4096']
const child = spawn(process.execPath, [...flags, program, ...given], {
  stdio: 'inherit',
})
// The child hears Ctrl-C itself, and ends all that it started.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => process.exit(code ?? 1))
