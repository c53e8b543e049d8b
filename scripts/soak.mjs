#!/usr/bin/env node
// @ts-check
/** npm run soak -- --minutes N [--seed S]: many processes and every fault, on a server of its own. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { build } from './build.mjs'
import { root } from './test/parts.mjs'
import { ensureRedis, tryFaketime } from './test/redis.mjs'

ensureRedis()
tryFaketime()
if (!(await build({ tests: true }))) process.exit(1)
const program = join(root, '.build/test/soak/main.js')
const flags = ['--enable-source-maps', '--max-old-space-size=4096']
const child = spawn(process.execPath, [...flags, program, ...process.argv.slice(2)], { stdio: 'inherit' })
// The child hears Ctrl-C itself, and ends all that it started.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => process.exit(code ?? 1))
