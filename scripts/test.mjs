#!/usr/bin/env node
// @ts-check
/**
 * npm test                     everything that this machine can check
 * npm test -- gate fair-lock   only the test files whose path holds one of the words, built before
 *
 * HOLDFAST_REQUIRE=redis,java,postgres,prometheus,chromium,nginx   a skip for want of these is a failure
 * HOLDFAST_INSTALL=1            installs what is missing (Redis, PostgreSQL, Prometheus, Chromium, nginx, Java) with the system's package manager
 * HOLDFAST_TEST_CONCURRENCY=3   test files at a time
 * HOLDFAST_TEST_TIMEOUT=300000  ms for each test file
 * HOLDFAST_TEST_AGAIN=1         one or two tests that failed beside others pass if they do so alone, three times
 */
import { join } from 'node:path'
import { copyBuild, install, installBeside } from './install.mjs'
import { build } from './build.mjs'
import { packageParts } from './check-package.mjs'
import { findTests, runTests } from './test/node-tests.mjs'
import { stage } from './stage.mjs'
import { call, callTool, root, runParts, startTool, summarize } from './test/parts.mjs'
import { ensureChromium } from './test/chromium.mjs'
import { ensureJava } from './test/java.mjs'
import { ensureNginx } from './test/nginx.mjs'
import { ensurePostgres } from './test/postgres.mjs'
import { ensurePrometheus } from './test/prometheus.mjs'
import { ensureRedis } from './test/redis.mjs'
import { ensureNewer } from './test/servers.mjs'

const patterns = process.argv.slice(2)
/** Clients and runtimes of these tests alone. */
const connections = patterns.some((pattern) => pattern.includes('connections'))
/** Frameworks of these tests alone: the oldest and the newest that are supported. */
const frameworks = patterns.some((pattern) => pattern.includes('frameworks'))
const site = patterns.some((pattern) => pattern.includes('suites/site'))
const beside = patterns.some((pattern) => pattern.includes('interop'))

/** @param {boolean} ok @param {string} problem */
const orThrow = (ok, problem) => {
  if (!ok) throw new Error(problem)
}

/** ESLint takes one processor for a minute; the others have theirs beside it. */
const checks = () => {
  /** @type {() => Promise<void>} */
  let lint
  return [
    {
      name: 'prettier',
      run: () => {
        lint = startTool('eslint/bin/eslint.js', ['.', '--quiet'])
        callTool('prettier/bin/prettier.cjs', ['.', '--check', '--log-level=warn'])
      },
    },
    { name: 'rooms', run: () => call(process.execPath, ['scripts/rooms.mjs', '--check']) },
    ...packageParts(),
    { name: 'eslint', run: () => lint() },
  ]
}

/** @param {string[]} args */
const simulate = (...args) =>
  call(process.execPath, ['--enable-source-maps', 'dist/testing/simulation/main.js', ...args])

const simulation = () => [
  { name: 'histories that failed once', run: () => simulate('--seeds', 'test/testing/simulation/seeds.json') },
  { name: 'half a minute of simulation', run: () => simulate('--seconds', '30') },
]

/** Built before the tests begin: the first time Maven downloads for longer than a test may take. */
const redisson = () => [
  { name: 'java', run: ensureJava },
  { name: 'drivers of Redisson', run: () => call(process.execPath, ['.build/test/suites/interop/build-drivers.js']) },
]

const others = () => [
  {
    name: 'clients and runtimes',
    run: () => orThrow(installBeside('test/suites/connections/packages'), 'npm ci failed'),
  },
  { name: 'newer servers', run: ensureNewer },
]

/** holdfast lies beside the frameworks of each generation, so that it finds those and not the project's own. */
const generations = () =>
  ['oldest', 'newest'].map((generation) => ({
    name: `the ${generation} frameworks`,
    run: () => {
      const folder = `test/suites/frameworks/packages/${generation}`
      orThrow(installBeside(folder), 'npm ci failed')
      copyBuild(`${folder}/node_modules/holdfast`)
    },
  }))

/** Beside the bundlers lies what is published. */
const bundlers = () => ({
  name: 'bundlers and runners',
  run: async () => {
    const folder = 'test/suites/frameworks/packages/bundlers'
    orThrow(installBeside(folder), 'npm ci failed')
    await stage(join(root, folder, 'node_modules/holdfast'))
  },
})

const docs = () => [
  { name: 'chromium', run: ensureChromium },
  { name: 'site', run: () => call(process.execPath, ['scripts/docs.mjs']) },
]

const total = await runParts([
  { name: 'packages', run: () => orThrow(install(), 'npm ci failed'), essential: true },
  { name: 'redis', run: ensureRedis },
  ...(patterns.length > 0
    ? []
    : [
        { name: 'postgres', run: ensurePostgres },
        { name: 'prometheus', run: ensurePrometheus },
        { name: 'chromium', run: ensureChromium },
        { name: 'nginx', run: ensureNginx },
      ]),
  { name: 'build and types', run: async () => orThrow(await build({ tests: true }), 'the build failed') },
  ...(patterns.length > 0 ? [] : checks()),
  ...(connections ? others() : []),
  ...(frameworks ? [...generations(), bundlers()] : []),
  ...(site ? docs() : []),
  ...(beside ? redisson() : []),
  {
    name: 'tests',
    run: () => {
      const files = findTests(patterns)
      orThrow(files.length > 0, `no test file matches ${patterns.join(' ')}`)
      return runTests(files)
    },
  },
  ...(patterns.length > 0 ? [] : simulation()),
])
// A server, timer or child that a tool left behind must not keep this process.
process.exit(summarize(total) ? 0 : 1)
