import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Recipe, recipe, type Running, soon } from './recipe.js'

/** What Lambda does: one invocation for each line of input, and the time that it has left. */
const RUNTIME = `
import { createInterface } from 'node:readline'
import { handler } from './index.mjs'
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const { left, ...event } = JSON.parse(line)
  const end = performance.now() + left
  const context = { getRemainingTimeInMillis: () => Math.round(end - performance.now()) }
  console.log('invoked')
  await handler(event, context).then(
    (value) => console.log('result ' + JSON.stringify(value)),
    (error) => console.log('error ' + error.name + ': ' + error.message),
  )
}`

interface Instance extends Running {
  invoke(event: object): void
}

const startInstance = async (here: Recipe): Promise<Instance> => {
  await writeFile(join(here.folder, 'runtime.mjs'), RUNTIME)
  const running = here.start('runtime.mjs')
  await running.said(/ready/)
  return { ...running, invoke: (event) => running.write(`${JSON.stringify(event)}\n`) }
}

const LEFT = 20_000

/** Until the invocation with this token has the lock, knows it, and has claimed ada's bill. */
const claimed = ({ client }: Recipe, token: string): Promise<void> => {
  const script = client.script(`return redis.call('HGET', KEYS[1], 'token')`)
  return soon(async () => (await script.run({ keys: ['bill:ada'], args: [], returns: 'status' })) === token)
}

// At the same time, because each waits for the end of a lease.
void describe('the recipe for Lambda', { concurrency: true }, () => {
  void test('frozen between two invocations, beyond the lease → holds nothing meanwhile, and works when it goes on', async (t) => {
    const here = await recipe(t, 'lambda.md')
    if (here === undefined) return
    const frozen = await startInstance(here)
    frozen.invoke({ customer: 'ada', steps: 1, left: LEFT })
    await frozen.said(/result .*"token":"1"/)
    frozen.kill('SIGSTOP')
    const other = await startInstance(here)
    other.invoke({ customer: 'ada', steps: 2, left: LEFT })
    await other.said(/result .*"token":"2"/)
    frozen.kill('SIGCONT')
    frozen.invoke({ customer: 'ada', steps: 3, left: LEFT })
    await frozen.said(/result .*"token":"3"/)
    frozen.invoke({ Records: [], left: LEFT })
    await frozen.said(/error TypeError: the event has no customer/)
  })

  void test('frozen in the middle, beyond the lease → another one bills; the frozen one writes nothing when it goes on', async (t) => {
    const here = await recipe(t, 'lambda.md')
    if (here === undefined) return
    const lock = here.client.fencedLock('customer:ada')
    const [frozen, other] = await Promise.all([startInstance(here), startInstance(here)])
    // Its lease is over after three seconds, long before its work.
    frozen.invoke({ customer: 'ada', steps: 10_000, left: 2000 })
    await claimed(here, '1')
    frozen.kill('SIGSTOP')
    assert.equal(await lock.isLocked(), true, 'stopped while it holds the lock')
    other.invoke({ customer: 'ada', steps: 2, left: LEFT })
    await other.said(/result .*"token":"2"/)
    frozen.kill('SIGCONT')
    await frozen.said(/error LockLostError/)
    assert.doesNotMatch(frozen.text(), /result/)
    const saved = await here.client
      .script(`return redis.call('HMGET', KEYS[1], 'token', 'steps')`)
      .run({ keys: ['bill:ada'], args: [], returns: 'list' })
    assert.deepEqual(saved, ['2', '2'])
  })

  void test('frozen after its last look at the signal; another one has claimed, but not written → the late write is refused', async (t) => {
    const here = await recipe(t, 'lambda.md')
    if (here === undefined) return
    const file = join(here.folder, 'index.mjs')
    const program = await readFile(file, 'utf8')
    const look = 'signal.throwIfAborted()'
    assert.ok(program.includes(look))
    await writeFile(file, program.replace(look, ''))
    const [frozen, other] = await Promise.all([startInstance(here), startInstance(here)])
    frozen.invoke({ customer: 'ada', steps: 30, left: 2000 })
    await claimed(here, '1')
    frozen.kill('SIGSTOP')
    other.invoke({ customer: 'ada', steps: 100, left: 60_000 })
    await claimed(here, '2')
    frozen.kill('SIGCONT')
    await frozen.said(/error Error: refused/)
    await other.said(/result .*"total":100,"token":"2"/)
  })
})
