#!/usr/bin/env node
// @ts-check
/** npm run simulate -- [--seconds N] [--seed S --trace]: builds, then runs simulated histories. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from './build.mjs'

if (!(await build())) process.exit(1)
const main = join(import.meta.dirname, '../dist/testing/simulation/main.js')
const { status } = spawnSync(process.execPath, ['--enable-source-maps', main, ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
