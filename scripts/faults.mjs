#!/usr/bin/env node
// @ts-check
/** npm run test:faults: everything that can go wrong between a client and a real server. Slow; npm test leaves it out. */
import { build } from './build.mjs'
import { findTests, runTests } from './test/node-tests.mjs'
import { runParts, summarize } from './test/parts.mjs'
import { ensureRedis, tryFaketime } from './test/redis.mjs'

const total = await runParts([
  { name: 'redis', run: ensureRedis },
  { name: 'faketime', run: tryFaketime },
  {
    name: 'build',
    run: async () => {
      if (!(await build({ tests: true }))) throw new Error('the build failed')
    },
    essential: true,
  },
  { name: 'faults', run: () => runTests(findTests(['test/suites/faults/'])) },
])
// A server, timer or child that a test left behind must not keep this process.
process.exit(summarize(total) ? 0 : 1)
