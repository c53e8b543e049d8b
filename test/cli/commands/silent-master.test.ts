import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, EngineError } from 'holdfast'
import { LeftOut } from '#src/cli/locks/left-out.js'
import { serverClock } from '#src/cli/server-clock.js'
import { indexKey, registerKey } from '#src/keys.js'
import { type ClusterNode, startCluster } from '../../support/redis-cluster.js'
import { until } from '../../support/until.js'
import { type Ended, holdfast, linesOf } from './stage.js'

const LOCKS = 1200
/** The time-out of a command is 3 s. With one for each 64 locks, it would take a minute. */
const SOON = 30_000

/** `took`: of all tries together. */
const listed = async (command: string, url: string): Promise<Ended & { readonly took: number }> => {
  const began = performance.now()
  const ask = (): Promise<Ended> => holdfast([command, '--json'], { url })
  let ended = await ask()
  // On a busy machine, the connection to a master that answers may be cut, too. Then the list says that it does not know what it lacks.
  if (ended.error.includes(', and perhaps others,')) ended = await ask()
  return { ...ended, took: performance.now() - began }
}

test('a list lacks locks by name, and what a client has published → it says that there may be others', () => {
  const error = new EngineError('OFFLINE', 'Connection is closed.')
  const leftOut = new LeftOut()
  assert.equal(leftOut.text, undefined)
  leftOut.add({ name: 'a', error })
  leftOut.add({ name: 'b', error })
  assert.equal(leftOut.text, 'left out 2 locks that could not be read: Connection is closed.')
  leftOut.add({ name: undefined, error })
  assert.equal(leftOut.text, 'left out 2 locks, and perhaps others, that could not be read: Connection is closed.')
})

test(
  'a master of a cluster is silent → ls and tree list the locks of the others soon, and say what is left out',
  { timeout: 120_000 },
  async (t) => {
    const cluster = await startCluster().catch((error: unknown) => {
      t.skip(String(error))
      return undefined
    })
    if (cluster === undefined) return
    t.after(() => cluster.stop())
    for (const { redis } of cluster.nodes) await redis.config('SET', 'cluster-require-full-coverage', 'no')
    const client = await connect({ url: cluster.url, watchdog: 600_000 })
    t.after(() => client.close({ release: false }))
    client.on('error', () => undefined)
    const names = Array.from({ length: LOCKS }, (_, i) => `lock:${i}`)
    await Promise.all(names.map((name) => client.lock(name).acquire()))
    const list = async (): Promise<string[]> => linesOf((await holdfast(['ls', '--json'], { url: cluster.url })).out)
    await until(async () => (await list()).length === LOCKS, 60_000)

    const needed = await Promise.all([registerKey(), indexKey(client.id)].map((key) => cluster.ownerOf(key)))
    const silent = cluster.nodes.find((node) => !needed.includes(node)) as ClusterNode
    const owners = await Promise.all(names.map((name) => cluster.ownerOf(name)))
    const there = names.filter((_, i) => owners[i] === silent).length
    await silent.redis.call('CLIENT', 'PAUSE', '600000', 'ALL')

    // Whichever master is asked for the time, it is told at once.
    for (let time = 0; time < 12; time++) await serverClock(client)

    for (const command of ['ls', 'tree']) {
      const { code, out, error, took } = await listed(command, cluster.url)
      assert.equal(code, 69, `${command}: ${linesOf(out).length} rows in ${Math.round(took)} ms; ${error}`)
      assert.match(error, new RegExp(`^holdfast: left out ${there} locks that could not be read: .+\n$`))
      assert.ok(took < SOON, `${command}: ${Math.round(took)} ms`)
      if (command === 'ls') assert.equal(linesOf(out).length, LOCKS - there)
      t.diagnostic(`${command}: ${Math.round(took)} ms, ${there} of ${LOCKS} locks are there`)
    }
  },
)
