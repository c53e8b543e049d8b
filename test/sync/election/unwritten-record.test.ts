import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'
import { electionProclaim } from '#src/lua/scripts.gen.js'
import { onStage } from '../../support/stage.js'

/** ms: the record is written again when two thirds of the lease are over. */
const LEASE = 3000

onStage(
  'the record of a leader cannot be written → told once, again after it could be, and the term goes on',
  async ({ client, driver, clock, errors, run }) => {
    let refusal: string | undefined
    const send = driver.send.bind(driver)
    driver.send = (argv, options) =>
      refusal !== undefined && argv.some((word) => String(word).includes(electionProclaim.sha))
        ? Promise.reject(new Error(refusal))
        : send(argv, options)
    const stop = new AbortController()
    let isLeading = false
    const led = client.election('e').lead({ lease: LEASE, signal: stop.signal }, async ({ signal }) => {
      isLeading = true
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isLeading = false
    })
    const messages = (): string[] => errors.map(({ message }) => message)
    await clock.advance(2 * LEASE)
    assert.deepEqual([isLeading, messages()], [true, []])
    refusal = 'OOM command not allowed'
    await clock.advance(4 * LEASE)
    const told = "could not write who leads 'e', so others may see nobody, or an old value: OOM command not allowed"
    assert.deepEqual([isLeading, messages()], [true, [told]])
    refusal = undefined
    await clock.advance(2 * LEASE)
    refusal = 'OOM command not allowed'
    await clock.advance(2 * LEASE)
    assert.deepEqual(messages(), [told, told])
    refusal = undefined
    stop.abort()
    await run(led)
  },
  ['redisson_lock_token:{e}'],
)

onStage(
  'the server is away, and the observer’s signal aborts, or its reader leaves → it ends at once',
  async ({ client, driver, clock }) => {
    driver.up = false
    const stop = new AbortController()
    const aborted = client.election('e').observe({ signal: stop.signal })
    const left = client.election('e').observe()
    const ends: string[] = []
    const next = aborted.next().catch((error: unknown) => ends.push((error as Error).message))
    void left.next()
    // Each tries to subscribe, and pauses for a second then.
    await clock.advance(4100)
    stop.abort(new Error('enough'))
    const gone = left.return!().then(() => ends.push('left'))
    await clock.advance(5)
    assert.deepEqual(ends.sort(), ['enough', 'left'])
    await Promise.all([next, gone])
    driver.up = true
  },
)

onStage(
  'the server refuses, and the signal of a candidate aborts → lead resolves at once',
  async ({ client, driver, clock, run }) => {
    driver.refuses = 'OOM command not allowed'
    const stop = new AbortController()
    let isOver = false
    const led = client
      .election('e')
      .lead({ signal: stop.signal }, () => assert.fail())
      .then(() => (isOver = true))
    await clock.advance(1)
    assert.equal(isOver, false)
    stop.abort()
    await clock.advance(5)
    assert.equal(isOver, true)
    driver.refuses = undefined
    await run(led)
  },
  [],
)

void test('a lease that no leader can renew → an error that says which is allowed', async () => {
  await using client = await connect('memory:')
  const lead = (options: object): Promise<unknown> => client.election('e').lead(options, () => assert.fail())
  for (const lease of [1, 2, 3])
    await assert.rejects(lead({ lease }), {
      name: 'RangeError',
      message: `lease must be at least 4 milliseconds, so that a leader can renew it before it ends, not ${lease}`,
    })
  for (let lease = 4; lease < 100; lease++)
    assert.equal(await lead({ lease, signal: AbortSignal.abort() }), undefined, `${lease}`)
})
