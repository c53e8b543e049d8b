import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ClientOptions, Hold, Permit } from 'holdfast'
import { machineTime } from '../soak/log.js'
import { type Broken, onServer } from '../../support/server.js'
import type { Order, Told } from './blocked-process.js'
import { type KindName, KINDS, rivalOf } from './kinds.js'

const PROGRAM = fileURLToPath(new URL('blocked-process.js', import.meta.url))
/** ms. Long enough for a busy machine to renew it. */
const LEASE = 3000
const THREE_LEASES = 3 * LEASE

/** A process that holds, and all that it told. */
class Holder {
  readonly told: Told[] = []
  readonly #child
  readonly ended: Promise<unknown>
  readonly #broken: Broken

  private constructor(broken: Broken, options: ClientOptions, kinds: readonly KindName[]) {
    this.#broken = broken
    this.#child = spawn(process.execPath, [PROGRAM, JSON.stringify(options), JSON.stringify(kinds)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.ended = once(this.#child, 'exit')
    this.#child.on('message', (told: Told) => this.told.push(told))
    broken.after(() => this.#child.kill('SIGKILL'))
  }

  /** Resolves when it has all holds, and its thread has had time to connect. */
  static async start(
    broken: Broken,
    watchdog: { thread: boolean; maxBlocked?: number },
    kinds: readonly KindName[] = ['lock'],
  ): Promise<Holder> {
    const url = broken.proxy.url
    const holder = new Holder(broken, { url, watchdog: { lease: LEASE, ...watchdog }, commandTimeout: 1000 }, kinds)
    await broken.until(() => holder.last('held') !== undefined, 30_000)
    if (watchdog.thread) await broken.until(() => holder.last('thread connected') !== undefined, 30_000)
    return holder
  }

  last(what: Told['what']): Told | undefined {
    return this.told.filter((one) => one.what === what).at(-1)
  }

  order(order: Order): void {
    this.#child.send(order)
  }

  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  /** Resolves when it runs again. */
  async blocked(ms: number): Promise<Told> {
    this.order({ block: ms })
    await this.#broken.until(() => this.last('back') !== undefined, ms + 30_000)
    return this.last('back') as Told
  }

  async release(): Promise<Told> {
    this.order('release')
    await this.ended
    assert.equal(this.#child.exitCode, 0)
    return this.last('released') as Told
  }
}

/** When a call elsewhere gets each of them. */
const rivals = async (broken: Broken, kinds: readonly KindName[]): Promise<Map<KindName, Promise<number>>> => {
  const client = await broken.open({ url: broken.server.url, watchdog: 60_000, presence: false })
  const when = async (acquiring: Promise<Hold | Permit>): Promise<number> => {
    const hold = await acquiring
    const at = machineTime()
    await hold.release()
    return at
  }
  return new Map(kinds.map((kind) => [kind, when(rivalOf[kind](client))]))
}

void describe('an event loop that is blocked for three leases', { concurrency: 1 }, () => {
  onServer('with the thread: no hold of any kind is lost, and nobody is in beside it', async (broken) => {
    const holder = await Holder.start(broken, { thread: true }, KINDS)
    const others = await rivals(broken, KINDS)
    const back = await holder.blocked(THREE_LEASES)
    for (const kind of KINDS) {
      assert.deepEqual([back.states[kind]?.lost, typeof back.states[kind]?.held], [undefined, 'number'], kind)
    }
    assert.ok((back.most ?? 0) <= LEASE, `${back.most} ms left of a lease of ${LEASE}`)
    const released = await holder.release()
    assert.equal(released.text, KINDS.map(() => 'true').join())
    const from = holder.last('releases')?.at ?? Infinity
    for (const [kind, other] of others) assert.ok((await other) >= from, `${kind}: two at a time`)
  })

  onServer('without the thread: every hold is lost, and others are in', async (broken) => {
    const holder = await Holder.start(broken, { thread: false }, KINDS)
    const others = await rivals(broken, KINDS)
    const back = await holder.blocked(THREE_LEASES)
    for (const [kind, other] of others) {
      assert.ok((back.states[kind]?.lost ?? Infinity) <= (await other), `${kind}: lost before another had it`)
    }
    assert.equal((await holder.release()).text, KINDS.map(() => 'false').join())
  })

  onServer('for longer than `maxBlocked`: lost, before another has it', async (broken) => {
    const holder = await Holder.start(broken, { thread: true, maxBlocked: 1.5 * LEASE })
    const others = await rivals(broken, ['lock'])
    const since = machineTime()
    const back = await holder.blocked(5 * LEASE)
    const other = (await others.get('lock')) ?? 0
    const lost = back.states['lock']?.lost ?? Infinity
    assert.ok(lost <= other, 'it knew first')
    assert.ok(lost - since > 1.5 * LEASE, `renewed until then, but lost after ${lost - since} ms`)
    assert.ok(other < back.at, 'another had it while it was blocked')
    assert.equal((await holder.release()).text, 'false')
  })

  onServer('released by force meanwhile: the blocked code sees that it is lost', async (broken) => {
    const holder = await Holder.start(broken, { thread: true })
    const other = await broken.open({ presence: false })
    holder.order({ block: THREE_LEASES })
    await sleep(LEASE / 2)
    const forced = machineTime()
    assert.equal(await other.lock('a lock').forceRelease(), true)
    await broken.until(() => holder.last('back') !== undefined, 30_000)
    const back = holder.last('back') as Told
    const lost = back.states['lock']?.lost ?? Infinity
    assert.ok(lost > forced && lost < back.at - 100, `forced, and lost ${lost - forced} ms later`)
    assert.ok(lost - forced < LEASE, `lost ${lost - forced} ms later`)
    await holder.release()
  })

  onServer('the server is away for longer than the lease: lost before another has it', async (broken) => {
    const holder = await Holder.start(broken, { thread: true })
    const others = await rivals(broken, ['lock'])
    holder.order({ block: THREE_LEASES })
    await sleep(LEASE / 2)
    broken.proxy.mute = true
    broken.proxy.deaf = true
    const other = (await others.get('lock')) ?? 0
    broken.proxy.deaf = false
    broken.proxy.mute = false
    broken.proxy.cut()
    await broken.until(() => holder.last('back') !== undefined, 30_000)
    assert.ok((holder.last('back')?.states['lock']?.lost ?? Infinity) <= other, 'it knew first')
    await holder.release()
  })

  onServer('its connections are cut, and stand again: held', async (broken) => {
    const holder = await Holder.start(broken, { thread: true })
    holder.order({ block: THREE_LEASES })
    await sleep(LEASE / 2)
    broken.proxy.cut()
    await broken.until(() => holder.last('back') !== undefined, 30_000)
    assert.equal(holder.last('back')?.states['lock']?.lost, undefined)
    assert.equal((await holder.release()).text, 'true')
  })
})
