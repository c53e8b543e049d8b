import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Snapshot } from '#src/dashboard/page-messages.js'
import { type Broken, onServer } from '../support/server.js'
import { until } from '../support/until.js'
import { served } from './stage.js'

const PROGRAM = fileURLToPath(new URL('../support/lock-user-process.js', import.meta.url))
/** ms. */
const HEALS = 3000

const start = async ({ server, after }: Broken, ...args: readonly string[]): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [PROGRAM, server.url, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

const kill = async (child: ChildProcess): Promise<void> => {
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** The labels of the holders and the waiters that the page gets. */
const shown = async (base: string): Promise<ReadonlySet<string>> => {
  const { locks } = (await (await fetch(`${base}state`)).json()) as Snapshot
  const said = locks.flatMap(({ name, holders, waiting }) => [
    ...holders.map(({ label }) => `${label} holds ${name}`),
    ...waiting.map(({ label }) => `${label} waits for ${name}`),
  ])
  return new Set(said)
}

void describe('a client of the locks is killed', () => {
  onServer(
    'its holds and places are shown as long as the server keeps them, and are gone 3 s later',
    async (broken) => {
      const { redis } = broken
      const base = await served(broken)
      const living = await broken.open({ label: 'living' })
      const hold = await living.lock('invoice').acquire()
      const [holder, waiter] = await Promise.all([
        start(broken, 'holder', 'deploy', '12000'),
        start(broken, 'waiter', 'invoice'),
      ])
      const patient = await broken.open({ label: 'patient' })
      const waits = patient.lock('invoice').acquire()
      const [holds, waited] = ['holder holds deploy', 'waiter waits for invoice']
      const stays = ['living holds invoice', 'patient waits for invoice']
      await until(async () => {
        const now = await shown(base)
        return [holds, waited, ...stays].every((what) => now.has(what))
      })
      await Promise.all([kill(holder), kill(waiter)])

      const serverNow = async () => {
        const [seconds, micros] = await redis.time()
        return Number(seconds) * 1000 + Number(micros) / 1000
      }
      const first = (await redis.lindex('holdfast_line:{invoice}', 0)) ?? assert.fail()
      const ends = new Map([
        [holds, (await serverNow()) + (await redis.pttl('deploy'))],
        [waited, Math.floor(Number(await redis.zscore('holdfast_line_due:{invoice}', first)))],
      ])
      for (const end of ends.values()) assert.ok(end > (await serverNow()) + 1000, 'it is too late to see it stay')
      const gone = new Map<string, number>()
      while (gone.size < ends.size) {
        const before = await serverNow()
        const now = await shown(base)
        for (const what of stays) assert.ok(now.has(what), what)
        for (const [what, end] of ends) {
          if (gone.has(what)) assert.ok(!now.has(what), `${what} came again`)
          else if (!now.has(what)) gone.set(what, await serverNow())
          assert.ok(!now.has(what) || before < end + HEALS, `${what}, ${before - end} ms after its end`)
        }
        await sleep(50)
      }
      // The page is a reading old at most, and knows the server's clock to some ms.
      for (const [what, end] of ends) assert.ok((gone.get(what) ?? 0) > end - 100, `${what} was gone too early`)
      await hold.release()
      await (await waits).release()
    },
  )
})
