import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from 'holdfast'
import { stage } from '../../support/line-stage.js'

const KINDS: Readonly<Record<string, (client: Client) => ReturnType<Client['lock']>>> = {
  lock: (client) => client.lock('x'),
  'fenced lock': (client) => client.fencedLock('x'),
  'write lock': (client) => client.readWriteLock('x').write,
  'fair write lock': (client) => client.readWriteLock('x', { fair: true }).write,
  'keyed lock': (client) => client.keyedLock('x', ['a', 'b']),
}

type Stage = Awaited<ReturnType<typeof stage>>

type LockOf = (client: Client, place: number) => ReturnType<Client['lock']>

/** Each process of one caller, all the time: how often each was there, and how long somebody waited at most. */
const contest = async ({ clock, clients, drivers, pause, run }: Stage, lockOf: LockOf, alone = true) => {
  const visits = clients.map(() => 0)
  let [inside, longest] = [0, 0]
  const caller = async (client: Client, place: number): Promise<void> => {
    while (clock.monotonic() < 12_000) {
      const came = clock.monotonic()
      await lockOf(client, place).using(async () => {
        inside += 1
        if (alone) assert.equal(inside, 1)
        longest = Math.max(longest, clock.monotonic() - came)
        await pause(20)
        inside--
        visits[place]! += 1
      })
    }
  }
  await run(Promise.all(clients.map(caller)))
  const all = visits.reduce((sum, count) => sum + count)
  return { visits, all, longest, scripts: drivers.reduce((sum, { scripts }) => sum + scripts, 0) / all }
}

for (const [kind, lockOf] of Object.entries(KINDS)) {
  void test(`${kind}: the server counts nobody, as behind a proxy → in turn, and a release does not wake everybody`, async () => {
    const s = await stage(8, lockOf)
    s.server().pubsub.count = () => 0
    const { visits, all, longest, scripts } = await contest(s, lockOf)
    assert.ok(Math.min(...visits) >= 0.7 * Math.max(...visits), visits.join())
    assert.ok(longest <= 3 * 8 * 20, `${longest} ms`)
    assert.ok(all > 400, `${all} visits`)
    assert.ok(scripts <= 5, `${scripts} scripts a visit`)
    await s.end()
  })

  void test(`${kind}: one of four cannot subscribe → it has its turns, the others are not much slower for it`, async () => {
    const s = await stage(4, lockOf)
    s.drivers[0]!.subscribe = () => Promise.reject(new Error('NOPERM no such channel for you'))
    const { visits, longest } = await contest(s, lockOf)
    // Each of its turns may cost a poll.
    assert.ok(visits[0]! >= 10, visits.join())
    assert.ok(Math.min(...visits.slice(1)) >= 60, visits.join())
    assert.ok(longest <= 3000, `${longest} ms`)
    await s.end()
  })
}

void test('keyed lock: nobody is counted, and one wants two keys that others have one after the other → it has them', async () => {
  const sets = [['a', 'b'], ['a'], ['a'], ['b'], ['b']]
  const s = await stage(sets.length, (client) => client.keyedLock('x', ['a']))
  s.server().pubsub.count = () => 0
  const { visits, longest } = await contest(s, (client, place) => client.keyedLock('x', sets[place]!), false)
  assert.ok(visits[0]! >= 60, visits.join())
  assert.ok(longest <= 1500, `${longest} ms`)
  await s.end()
})

void test('lock: nobody is counted, and a Redisson wants it all the time → it has its turns', async () => {
  const s = await stage(4, 'lock')
  const { pubsub } = s.server()
  pubsub.count = () => 0
  let wake: (() => void) | undefined
  const publish = pubsub.publish.bind(pubsub)
  pubsub.publish = (...message) => {
    if (message[0] === 'redisson_lock__channel:{x}') wake?.()
    return publish(...message)
  }
  let visits = 0
  const outsider = async (): Promise<void> => {
    const owner = `${crypto.randomUUID()}:1`
    while (s.clock.monotonic() < 12_000) {
      if (Number(await s.raw('EXISTS', 'x')) === 0) {
        await s.raw('HSET', 'x', owner, '1')
        await s.raw('PEXPIRE', 'x', '30000')
        await s.pause(20)
        visits += 1
        await s.raw('DEL', 'x')
        await s.raw('PUBLISH', 'redisson_lock__channel:{x}', '0')
        await s.pause(1)
      } else {
        const woken = new Promise<void>((resolve) => (wake = resolve))
        await Promise.race([woken, s.pause(Number(await s.raw('PTTL', 'x')))])
      }
    }
  }
  const theirs = outsider()
  const { visits: ours } = await contest(s, (client) => client.lock('x'))
  await s.run(theirs)
  assert.ok(visits >= 40, `${visits} beside ${ours.join()}`)
  assert.ok(Math.min(...ours) >= 20, ours.join())
  await s.end()
})
