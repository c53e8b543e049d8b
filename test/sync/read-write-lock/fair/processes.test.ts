import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineTime } from '../../../suites/soak/log.js'
import { seeded } from '../../../support/random.js'
import { type Member, Party } from '../../../support/fair-party.js'
import { onServer } from '../../../support/server.js'

const RUNS = 20
const WAITERS = 15
/** Whoever was let in has so long to say that it goes on, ms. */
const TRIAL = 3000
/** A poll, and a loaded machine. */
const SLACK = 3000

/** Who comes by when the time of the dead is over takes them out of the line. */
const comesBy = async (party: Party, member: Member): Promise<void> => {
  await sleep(TRIAL + 200)
  const call = party.acquire(member, false)
  await party.until(() => party.of(call, 'released') !== undefined)
}

const inParty = (name: string, body: (party: Party) => Promise<void>): void => {
  onServer(name, async (broken) => {
    const party = new Party(broken.server.url, 'catalogue', 'readWriteLock')
    try {
      await body(party)
      await party.check()
    } finally {
      await party.close()
    }
  })
}

inParty(
  `3 processes, ${RUNS} runs of ${WAITERS} readers and writers → in the order in which they came`,
  async (party) => {
    const members = await Promise.all(['p0', 'p1', 'p2'].map((name) => party.invite(name, { watchdog: 30_000 })))
    const random = seeded(7)
    for (let run = 0; run < RUNS; run++) {
      const holder = await party.holds(members[run % 3] as (typeof members)[0])
      const sides = Array.from({ length: WAITERS }, () => random() < 0.6)
      const calls: string[] = []
      for (const [i, shared] of sides.entries()) {
        calls.push(await party.enqueue(members[(i * 2 + run) % 3] as (typeof members)[0], false, shared))
      }
      members[run % 3]?.order({ release: holder })
      await party.until(() => calls.every((call) => party.of(call, 'released') !== undefined))
      // Neighbours who read are in together; of all others each is in when the one before has gone.
      for (const [i, call] of calls.entries()) {
        const granted = party.of(call, 'granted')?.at ?? assert.fail()
        const behind = calls.slice(i + 1).filter((_, next) => !sides.slice(i, i + next + 2).every(Boolean))
        for (const other of behind)
          assert.ok(granted < (party.of(other, 'granted')?.at ?? 0), `run ${run}: ${call}, ${other}`)
      }
    }
  },
)

inParty('a process that is killed while it is next → the others are in at once', async (party) => {
  const [one, two, three] = [await party.invite('p0'), await party.invite('p1'), await party.invite('p2')]
  const holder = await party.holds(one, undefined, true)
  await party.enqueue(two)
  await party.enqueue(two, false, true)
  const [writing, reading] = [await party.enqueue(three), await party.enqueue(one, false, true)]
  await two.kill()
  await sleep(300)
  one.order({ release: holder })
  const since = machineTime()
  assert.ok((await party.granted(writing)) - since < TRIAL)
  await party.granted(reading)
  await comesBy(party, one)
})

inParty(
  'a process that is killed while it writes, and others of it wait → one short lease and its own',
  async (party) => {
    const [one, two] = [await party.invite('p0'), await party.invite('p1', { watchdog: 1500 })]
    await party.holds(two)
    await party.enqueue(two)
    await party.enqueue(two, false, true)
    const [reading, writing] = [await party.enqueue(one, false, true), await party.enqueue(one)]
    await two.kill()
    const since = machineTime()
    assert.ok((await party.granted(reading)) - since < 1500 + TRIAL + SLACK)
    await party.granted(writing)
    await comesBy(party, one)
  },
)

inParty(
  'a process that is stopped while it is next → one short lease; it stands at the end when it goes on',
  async (party) => {
    const [one, two] = [await party.invite('p0'), await party.invite('p1')]
    const holder = await party.holds(one)
    const late = [await party.enqueue(two), await party.enqueue(two, false, true)]
    const [reading, writing] = [await party.enqueue(one, false, true), await party.enqueue(one)]
    const since = machineTime()
    two.signal('SIGSTOP')
    one.order({ release: holder })
    const after = (await party.granted(reading)) - since
    assert.ok(after > TRIAL - 500 && after < TRIAL + SLACK, `${after} ms`)
    await party.granted(writing)
    two.signal('SIGCONT')
    party.troubled('p1', since, 'stopped')
    for (const call of late) await party.granted(call)
  },
)

inParty(
  'a process that is stopped while it reads → its read ends with its lease, and the writer behind is in',
  async (party) => {
    const [one, two] = [await party.invite('p0'), await party.invite('p1', { watchdog: 1500 })]
    await party.holds(two, undefined, true)
    const since = machineTime()
    const writing = await party.enqueue(one)
    two.signal('SIGSTOP')
    assert.ok((await party.granted(writing)) - since < 1500 + SLACK)
    two.signal('SIGCONT')
    party.troubled('p1', since, 'stopped')
  },
)
