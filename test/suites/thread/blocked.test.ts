import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hold, Permit } from 'holdfast'
import { machineTime } from '../soak/log.js'
import { type Broken, onServer } from '../../support/server.js'
import { Holder, LEASE, THREE_LEASES } from './holder.js'
import { type KindName, KINDS, rivalOf } from './kinds.js'

const holderOn = (
  { proxy, after }: Broken,
  watchdog: { thread: boolean; maxBlocked?: number },
  kinds?: readonly KindName[],
): Promise<Holder> => Holder.start({ options: { url: proxy.url, watchdog }, after, ...(kinds && { kinds }) })

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
    const holder = await holderOn(broken, { thread: true }, KINDS)
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
    const holder = await holderOn(broken, { thread: false }, KINDS)
    const others = await rivals(broken, KINDS)
    const back = await holder.blocked(THREE_LEASES)
    for (const [kind, other] of others) {
      assert.ok((back.states[kind]?.lost ?? Infinity) <= (await other), `${kind}: lost before another had it`)
    }
    assert.equal((await holder.release()).text, KINDS.map(() => 'false').join())
  })

  onServer('for longer than `maxBlocked`: lost, before another has it', async (broken) => {
    const holder = await holderOn(broken, { thread: true, maxBlocked: 1.5 * LEASE })
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
    const holder = await holderOn(broken, { thread: true })
    const other = await broken.open({ presence: false })
    holder.order({ block: THREE_LEASES })
    await sleep(LEASE / 2)
    const forced = machineTime()
    assert.equal(await other.lock('a lock').forceRelease(), true)
    const back = await holder.tells('back')
    const lost = back.states['lock']?.lost ?? Infinity
    assert.ok(lost > forced && lost < back.at - 100, `forced, and lost ${lost - forced} ms later`)
    assert.ok(lost - forced < LEASE, `lost ${lost - forced} ms later`)
    await holder.release()
  })

  onServer('the server is away for longer than the lease: lost before another has it', async (broken) => {
    const holder = await holderOn(broken, { thread: true })
    const others = await rivals(broken, ['lock'])
    holder.order({ block: THREE_LEASES })
    await sleep(LEASE / 2)
    broken.proxy.mute = true
    broken.proxy.deaf = true
    const other = (await others.get('lock')) ?? 0
    broken.proxy.deaf = false
    broken.proxy.mute = false
    broken.proxy.cut()
    assert.ok(((await holder.tells('back')).states['lock']?.lost ?? Infinity) <= other, 'it knew first')
    await holder.release()
  })

  onServer('its connections are cut, and stand again: held', async (broken) => {
    const holder = await holderOn(broken, { thread: true })
    holder.order({ block: THREE_LEASES })
    await sleep(LEASE / 2)
    broken.proxy.cut()
    assert.equal((await holder.tells('back')).states['lock']?.lost, undefined)
    assert.equal((await holder.release()).text, 'true')
  })

  for (const [how, end] of [
    ['ended by process.exit', (holder: Holder) => holder.order('exit')],
    [
      'killed while it is blocked',
      async (holder: Holder) => {
        holder.order({ block: THREE_LEASES })
        await sleep(1.5 * LEASE)
        holder.kill()
      },
    ],
  ] as const) {
    onServer(`its process is ${how}: the lock is free when its lease is over, and nothing is left`, async (broken) => {
      const holder = await holderOn(broken, { thread: true })
      const others = await rivals(broken, ['lock'])
      await end(holder)
      const since = machineTime()
      const other = (await others.get('lock')) ?? Infinity
      assert.ok(other - since < LEASE + 1500, `free after ${other - since} ms`)
      await holder.ended
      await broken.until(async () => (await broken.redis.keys('*a lock*')).length === 0)
    })
  }

  onServer('the thread dies before: it is reported, another is started, and nothing is lost', async (broken) => {
    const holder = await holderOn(broken, { thread: true }, ['lock', 'read'])
    holder.order('crash the thread')
    await holder.tells('crashed')
    assert.match((await holder.tells('error')).text ?? '', /thread .* has ended/)
    await holder.tells('thread connected', 2)
    const back = await holder.blocked(THREE_LEASES)
    for (const kind of ['lock', 'read']) assert.equal(back.states[kind]?.lost, undefined, kind)
    assert.equal((await holder.release()).text, 'true,true')
  })

  onServer('the thread dies while it is blocked: lost before another has it', async (broken) => {
    const holder = await holderOn(broken, { thread: true })
    const others = await rivals(broken, ['lock'])
    holder.order('crash the thread and block')
    const other = (await others.get('lock')) ?? 0
    const back = await holder.tells('back')
    assert.ok((back.states['lock']?.lost ?? Infinity) <= other, 'it knew first')
    assert.equal((await holder.release()).text, 'false')
  })

  onServer('close() ends the thread and its connection', async (broken) => {
    const client = await broken.open({ watchdog: { lease: 60_000, thread: true }, presence: false })
    const before = broken.proxy.accepted
    const hold = await client.lock('a').acquire()
    await broken.until(() => broken.proxy.accepted > before, 30_000)
    await hold.release()
    await client.close()
    await broken.until(
      async () =>
        String(await broken.redis.call('CLIENT', 'LIST'))
          .trim()
          .split('\n').length === 1,
    )
  })
})
