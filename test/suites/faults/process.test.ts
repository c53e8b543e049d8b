import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '#src/base/clock.js'
import { fakedWall, faketime } from '../soak/faketime.js'
import { machineTime } from '../soak/log.js'
import type { Broken } from '../../support/server.js'
import { onServer } from '../../support/server.js'
import type { Order, Turn } from './holder-process.js'

const PROGRAM = fileURLToPath(new URL('holder-process.js', import.meta.url))
const WATCHDOG = 1500

/** A process that holds a lock, and all that it told. */
class Holder {
  readonly turns: Turn[] = []
  readonly #child
  readonly #ended

  private constructor(url: string, lease: number, env: Record<string, string>) {
    this.#child = spawn(process.execPath, [PROGRAM, url, 'a', String(lease), String(WATCHDOG)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, ...env },
    })
    this.#ended = once(this.#child, 'exit')
    this.#child.on('message', (turn: Turn) => this.turns.push(turn))
    const kill = (): void => void this.#child.kill('SIGKILL')
    process.once('exit', kill)
    this.#child.once('exit', () => process.off('exit', kill))
  }

  static async start({ proxy, until, after }: Broken, { lease = 0, env = {} } = {}): Promise<Holder> {
    const holder = new Holder(proxy.url, lease, env)
    after(() => {
      holder.kill()
    })
    await until(() => holder.turns.some(({ what }) => what === 'held'), 20_000)
    return holder
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name)
  }

  order(order: Order): void {
    this.#child.send(order)
  }

  since(at: number): Turn[] {
    return this.turns.filter((turn) => turn.at > at)
  }

  async end(): Promise<void> {
    this.#child.kill('SIGCONT')
    this.order('release')
    await this.#ended
    assert.equal(this.#child.exitCode, 0)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

/** All that it said after it slept is that it has lost the lock, and its signal fired. */
const learnsOfIt = async ({ until }: Broken, holder: Holder, woken: number): Promise<void> => {
  await until(() => holder.since(woken).some(({ what }) => what === 'signal'))
  await until(() => holder.since(woken).length > 3)
  for (const turn of holder.since(woken)) assert.deepEqual([turn.state, turn.remaining], ['lost', 0])
}

const nothingLeft = async ({ redis, until }: Broken): Promise<void> => {
  await until(async () => (await redis.keys('*')).length === 0)
}

void describe('trouble of a process', { concurrency: 2 }, () => {
  for (const lease of [0, WATCHDOG]) {
    const kind = lease === 0 ? 'a renewed hold' : 'a fixed lease'
    onServer(`${kind}, its process stopped past the lease → another has it; lost in its first turn`, async (broken) => {
      const holder = await Holder.start(broken, { lease })
      const other = await broken.open({ presence: false })
      holder.signal('SIGSTOP')
      const began = performance.now()
      const next = await other.lock('a').acquire()
      assert.ok(performance.now() - began < WATCHDOG + 1500)
      await sleep(200)
      const woken = machineTime()
      holder.signal('SIGCONT')
      await learnsOfIt(broken, holder, woken)
      await holder.end()
      assert.equal(next.state, 'held')
      assert.equal(await next.release(), true)
      await nothingLeft(broken)
    })

    onServer(`${kind}, its event loop blocked past the lease → the same`, async (broken) => {
      const holder = await Holder.start(broken, { lease })
      const other = await broken.open({ presence: false })
      holder.order({ block: 2 * WATCHDOG })
      await sleep(50)
      const blocked = machineTime()
      const next = await other.lock('a').acquire()
      assert.deepEqual(holder.since(blocked), [], 'it was had while the other was blocked')
      await learnsOfIt(broken, holder, blocked)
      await holder.end()
      assert.equal(next.state, 'held')
      assert.equal(await next.release(), true)
      await nothingLeft(broken)
    })
  }

  onServer('a process stopped for less than its lease → held on', async (broken) => {
    const holder = await Holder.start(broken)
    for (let round = 0; round < 3; round++) {
      holder.signal('SIGSTOP')
      await sleep(WATCHDOG / 3)
      holder.signal('SIGCONT')
      await sleep(WATCHDOG / 2)
    }
    assert.ok(holder.turns.every(({ state }) => state === 'held' || state === 'uncertain'))
    await holder.end()
    assert.equal(holder.turns.at(-1)?.what, 'released')
    await nothingLeft(broken)
  })

  onServer('a process killed → its waiter elsewhere is in when the lease is over, nothing is left', async (broken) => {
    const holder = await Holder.start(broken)
    const other = await broken.open({ presence: false })
    const waiting = other.lock('a').acquire()
    await sleep(100)
    holder.kill()
    const began = performance.now()
    const next = await waiting
    assert.ok(performance.now() - began < WATCHDOG + 1500)
    assert.equal(await next.release(), true)
    await nothingLeft(broken)
  })

  for (const step of [0.4, -0.4, 5, -5, 3600, -3600]) {
    const outcome =
      step > WATCHDOG / 1000 ? 'counts as a suspended machine: lost' : 'held on, perhaps uncertain for a moment'
    const byFaketime = `the wall clock stepped by ${step} s, by faketime → ${outcome}`
    if (faketime === undefined) void test(byFaketime, { skip: 'no libfaketime' })
    else
      onServer(byFaketime, async (broken) => {
        const file = join(tmpdir(), `holdfast-clock-${process.pid}-${step}`)
        writeFileSync(file, '+0')
        const holder = await Holder.start(broken, { env: fakedWall(file) })
        await sleep(200)
        const stepped = machineTime()
        writeFileSync(file, `${step < 0 ? '' : '+'}${step}`)
        await sleep(2 * WATCHDOG)
        const after = holder.since(stepped)
        assert.ok(after.length > 20)
        const last = after.at(-1)
        if (step > WATCHDOG / 1000) {
          assert.ok(after.some(({ what }) => what === 'signal'))
          assert.deepEqual([last?.state, last?.remaining], ['lost', 0])
        } else {
          assert.ok(after.every(({ state }) => state === 'held' || state === 'uncertain'))
          assert.equal(last?.state, 'held')
        }
        await holder.end()
        rmSync(file)
        await nothingLeft(broken)
      })

    onServer(`the wall clock stepped by ${step} s, by the injected clock → ${outcome}`, async (broken) => {
      let offset = 0
      const clock = { ...systemClock, now: () => systemClock.now() + offset }
      const client = await broken.open({ clock, watchdog: WATCHDOG, presence: false })
      const hold = await client.lock('a').acquire()
      await sleep(200)
      offset = step * 1000
      if (step > WATCHDOG / 1000) {
        assert.deepEqual([hold.state, hold.remaining()], ['lost', 0])
        await broken.until(() => hold.signal.aborted)
        assert.equal(await hold.release(), false)
      } else {
        for (let round = 0; round < 20; round++) {
          assert.ok(hold.remaining() > 0)
          await sleep(100)
        }
        await broken.until(() => hold.state === 'held')
        assert.equal(await hold.release(), true)
      }
      await nothingLeft(broken)
    })
  }
})
