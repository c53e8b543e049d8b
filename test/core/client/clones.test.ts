import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { onServer } from '../../support/server.js'

/** As in two copies of one process: the generator and the process's number are the same in each. */
const COPY = `
  let drawn = 0
  crypto.getRandomValues = (bytes) => bytes.map(() => drawn++ * 31)
  Object.defineProperty(process, 'pid', { value: 7 })
  const { connect } = await import('holdfast')
  const client = await connect(process.argv[1])
  const permits = client.permitSemaphore('permits')
  await permits.trySetPermits(1)
  const limiter = client.rateLimiter('rate')
  await limiter.trySetRate({ permits: 1, interval: 600_000 })
  const had = {
    lock: (await client.lock('a').tryAcquire()) !== undefined,
    fenced: (await client.fencedLock('b').tryAcquire()) !== undefined,
    fair: (await client.fairLock('c').tryAcquire()) !== undefined,
    permit: (await permits.tryAcquire()) !== undefined,
    rate: (await limiter.tryAcquire()).allowed,
  }
  console.log(JSON.stringify({ id: client.id, had }))
  process.exit()
`

interface Told {
  readonly id: string
  readonly had: Readonly<Record<string, boolean>>
}

onServer(
  'two copies of one process connect after they were made → two clients, and one of them has it',
  async ({ server }) => {
    const run = promisify(execFile)
    const copies = await Promise.all(
      [1, 2].map(async () => {
        const { stdout } = await run(process.execPath, ['--input-type=module', '-e', COPY, server.url])
        return JSON.parse(stdout) as Told
      }),
    )
    const [one, two] = copies as [Told, Told]
    assert.notEqual(one.id, two.id)
    for (const kind of Object.keys(one.had)) {
      assert.equal(Number(one.had[kind]) + Number(two.had[kind]), 1, kind)
    }
  },
)
