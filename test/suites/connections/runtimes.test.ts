import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findRuntime, type Runtime } from '../../support/packages.js'
import { onServer } from '../../support/server.js'

const PROGRAM = fileURLToPath(new URL('smoke-process.js', import.meta.url))

/** What comes before the program. */
const WAYS: Readonly<Record<Runtime, readonly string[]>> = {
  bun: ['run'],
  deno: ['run', '--allow-all', '--no-prompt', '--cached-only'],
  'the newest Node': ['--unhandled-rejections=strict'],
}

void describe('other runtimes', { concurrency: 1 }, () => {
  for (const [name, before] of Object.entries(WAYS) as [Runtime, readonly string[]][])
    onServer(
      `${name} → the smoke part of the suite on a real server and in memory, and it ends by itself`,
      async ({ server, redis }) => {
        const runtime = findRuntime(name)
        assert.ok(runtime !== undefined, `no ${name} for this machine in test/suites/connections/packages`)
        const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
        const { stdout: version } = await promisify(execFile)(runtime, ['--version'], { env })
        const { stdout, stderr } = await promisify(execFile)(runtime, [...before, PROGRAM, server.url], {
          env,
          timeout: 60_000,
        })
        assert.match(stdout, /smoke: well/, `${version}\n${stdout}\n${stderr}`)
        assert.deepEqual(await redis.keys('*'), [])
        console.log(`${name}: ${version.trim().split('\n')[0]}`)
      },
    )
})
