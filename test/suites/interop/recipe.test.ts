import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { allWell, recipe, soon } from '../recipes/recipe.js'
import { excuse } from './support/arena.js'
import { buildDriver, NEWEST } from './support/build.js'

/** The jars of Redisson, or why there are none. */
const jars = (): Promise<{ CLASSPATH: string } | { reason: string }> =>
  buildDriver(NEWEST).then(
    (CLASSPATH) => ({ CLASSPATH }),
    (error: unknown) => ({ reason: excuse(error) }),
  )

void test(
  'docs/recipes/java-and-node.md, both programs at once → no change is lost',
  { timeout: 240_000 },
  async (t) => {
    const env = await jars()
    if ('reason' in env) return t.skip(env.reason)
    const here = await recipe(t, 'java-and-node.md')
    if (here === undefined) return
    const { client, folder, start } = here
    const file = join(folder, 'invoice.txt')
    await writeFile(file, '0')

    // Both wait for the lock before the first of them has it, so that they contend from the beginning.
    const lock = client.lock('invoice:4711')
    const hold = await lock.acquire()
    const java = start('Invoice.java', [file, '200'], env)
    const listeners = client.script(`return redis.call('PUBSUB', 'NUMSUB', KEYS[1])[2]`)
    const keys = ['redisson_lock__channel:{invoice:4711}']
    await soon(async () => ((await listeners.run({ keys, returns: 'integer' })) ?? 0) > 0)
    const node = start('node.mjs', [file, '200'])
    await soon(async () => (await lock.inspect()).waiting.length === 1)
    assert.equal(await readFile(file, 'utf8'), '0')
    await hold.release()

    await allWell([java, node])
    assert.match(java.text(), /java: done/)
    assert.match(node.text(), /node: done/)
    assert.equal(await readFile(file, 'utf8'), '400')
  },
)
