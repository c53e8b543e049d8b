import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hold, Lock } from 'holdfast'
import { AcquireTimeoutError, connect, EngineError, LockLostError } from 'holdfast'
import { rejection, watch } from '../../contract/lock/kind.js'
import type { Client } from '../../../support/engines.js'
import { redisEngine, started } from '../../../support/engines.js'
import { leftOut } from '../../../support/sample.js'
import type { Trouble } from '../../../support/troubles.js'
import { Site, troubles } from '../../../support/troubles.js'
import { until } from '../../../support/until.js'

const WATCHDOG = 3000
/** What is waited for is free after so long, ms: not before the trouble has begun, for a spin lock asks all the while. */
const FREE_AFTER = 1500

/** One whose scripts are not all the plain lock's. */
interface Kind {
  readonly name: string
  readonly make: (client: Client, name: string) => Lock
  /** What another has written who holds it. */
  readonly foreign: Readonly<Record<string, string>>
  /** A command by which a renewal looks whose it is. */
  readonly looks: string
  /** How long what could not be taken back may stay, ms. */
  readonly lapse: number
}

/** A place in a line goes when a step out of it, which is tried again each second, is answered. */
const PLAIN = { foreign: { 'foreign:1': '1' }, looks: 'hexists', lapse: 1500 }
const READ_WRITE = { foreign: { mode: 'write', 'foreign:1:write': '1' }, lapse: 1500 }

const PLAIN_LOCK: Kind = { ...PLAIN, name: 'lock', make: (client, name) => client.lock(name) }

const KINDS: readonly Kind[] = [
  PLAIN_LOCK,
  { ...PLAIN, name: 'fencedLock', make: (client, name) => client.fencedLock(name) },
  { ...PLAIN, name: 'spinLock', make: (client, name) => client.spinLock(name) },
  { ...READ_WRITE, looks: 'hget', name: 'readWriteLock.read', make: (client, name) => client.readWriteLock(name).read },
  {
    ...READ_WRITE,
    looks: 'hexists',
    name: 'readWriteLock.write',
    make: (client, name) => client.readWriteLock(name).write,
  },
]

/** A client of the troubled server, and all that it told. */
interface Visit {
  readonly kind: Kind
  readonly site: Site
  readonly client: Client
  readonly lock: (name: string) => Lock
  readonly told: { readonly uncertain: unknown[]; readonly lost: Error[]; readonly errors: Error[] }
}

type Scenario = (name: string, body: (visit: Visit) => Promise<void>) => void

const visiting = async (site: Site, kind: Kind, body: (visit: Visit) => Promise<void>): Promise<void> => {
  const client = await connect({ url: site.url, watchdog: WATCHDOG })
  const told: Visit['told'] = { uncertain: [], lost: [], errors: [] }
  client.on('uncertain', ({ cause }) => told.uncertain.push(cause))
  client.on('lost', ({ error }) => told.lost.push(error))
  client.on('error', (error) => told.errors.push(error))
  try {
    await body({ kind, site, client, lock: (name) => kind.make(client, name), told })
    // A step out of the line that was refused is tried again each second.
    const end = performance.now() + kind.lapse
    while ((await site.keys()).length > 0 && performance.now() < end) await sleep(50)
    assert.deepEqual(await site.keys(), [], 'a key is left')
  } finally {
    await site.end()
    await client.close()
    for (const key of await site.keys()) await site.redis.del(key)
  }
}

/** Inside a `describe`: one server of its own, its tests one after the other. */
const onSite = (trouble: Trouble): ((kind: Kind) => Scenario) => {
  let site: Site | undefined
  let reason: string | undefined
  before(async () => {
    const start = async (): Promise<void> => {
      site = await Site.open(trouble)
    }
    reason = await started({ ...redisEngine, start })
  })
  after(() => site?.close())
  return (kind) => (name, body) => {
    if (kind !== PLAIN_LOCK && leftOut(`${trouble.name} ${kind.name} ${name}`)) return
    void test(`${kind.name}: ${name}`, { timeout: 60_000 }, async (t) => {
      if (site === undefined) t.skip(reason ?? 'no server')
      else await visiting(site, kind, body)
    })
  }
}

const isTrouble = ({ code, text }: Trouble, error: unknown): void => {
  assert.ok(error instanceof EngineError, String(error))
  assert.equal(error.code, code, error.message)
  assert.match(error.message, text)
}

/** The trouble itself, or that the way into it led through a cut connection. */
const isTroubleOrCut = ({ trouble }: Site, error: unknown): void => {
  const cut = error instanceof EngineError && (error.code === 'OFFLINE' || error.code === 'NO_REPLY')
  // A connection to a replica is dropped, whatever was under way on it.
  if (!['LOADING', 'READONLY', 'MASTERDOWN'].includes(trouble.code) || !cut) isTrouble(trouble, error)
}

const hasCode = (code: string, error: unknown): boolean => error instanceof EngineError && error.code === code

/** Its begin cuts all connections. */
const restarts = ({ trouble }: Site): boolean => trouble.code === 'LOADING'

/** When the server has told this client that another has the lock. */
const refused = (client: Client, name: string): Promise<void> =>
  new Promise((resolve) => {
    const listener = (message: unknown): void => {
      const told = message as { client: string; name: string }
      if (told.client !== client.id || told.name !== name) return
      unsubscribe('holdfast:wait', listener)
      resolve()
    }
    subscribe('holdfast:wait', listener)
  })

/** A call that waits for what another client holds, whose lease is over soon and without a word. */
const waiter = async (
  { kind, site, client, lock }: Visit,
  name: string,
  wait = 60_000,
): Promise<{ acquiring: Promise<Hold> }> => {
  await site.redis.hset(name, kind.foreign)
  await site.redis.pexpire(name, 60_000)
  const waiting = refused(client, name)
  const acquiring = lock(name).acquire({ wait })
  acquiring.catch(() => undefined)
  await waiting
  await site.redis.pexpire(name, FREE_AFTER)
  return { acquiring }
}

const everyWay = ({ client, lock }: Visit): Promise<unknown>[] => [
  lock('a').acquire(),
  lock('c').tryAcquire({ lease: 5000 }),
  lock('d').using(() => assert.fail('the work began')),
  lock('e').for(client.owner()).lock(),
]

/** The least that the server keeps it, on the wall clock. */
const keptUntil = async ({ redis }: Site, name: string): Promise<number> => {
  const now = Date.now()
  return now + (await redis.pttl(name))
}

const refusedAcquires = (scenario: Scenario): void => {
  scenario('acquire that was never answered → rejects with the server’s text, leaves nothing', async (visit) => {
    const { site, lock, told } = visit
    await site.begin()
    const began = performance.now()
    const timed = lock('b').acquire({ wait: 1000 })
    const [late, ...errors] = await Promise.all([timed, ...everyWay(visit)].map(rejection))
    // Those that do not wait hear at once of a connection that is being replaced.
    for (const error of errors) isTroubleOrCut(site, error)
    // Only whoever finds the connection replaced hears of that; before it is, somebody has met the trouble itself.
    if (!restarts(site))
      assert.ok(
        errors.some((error) => hasCode(site.trouble.code, error)),
        String(errors),
      )
    if (site.trouble.passes) {
      // A call with a time limit waits out what passes, and tells what it met.
      assert.ok(late instanceof AcquireTimeoutError, String(late))
      isTroubleOrCut(site, late.cause)
    } else isTrouble(site.trouble, late)
    assert.ok(performance.now() - began < 3000)
    await site.end()
    await sleep(WATCHDOG / 2)
    assert.deepEqual(await site.keys(), [])
    for (const error of told.errors) isTroubleOrCut(site, error)
    assert.deepEqual([...told.uncertain, ...told.lost], [])
    const hold = await lock('a').acquire()
    assert.equal(await hold.release(), true)
  })
}

const waitedOut = (scenario: Scenario): void => {
  scenario('acquire that waits already → waits it out, then has the lock', async (visit) => {
    const { site } = visit
    const [patient, timed] = [await waiter(visit, 'patient'), await waiter(visit, 'timed', 2500)]
    await site.begin()
    const patience = watch(patient.acquiring)
    const error = await rejection(timed.acquiring)
    assert.ok(error instanceof AcquireTimeoutError, String(error))
    isTroubleOrCut(site, error.cause)
    assert.equal(patience.settled, false)
    await site.end()
    const began = performance.now()
    const hold = await patience.promise
    assert.ok(performance.now() - began < 5000)
    // A connection that is replaced just then makes it ask once more.
    await until(() => hold.state === 'held')
    assert.equal(await hold.release(), true)
  })
}

const notWaitedOut = (scenario: Scenario): void => {
  scenario('acquire that waits already → rejects with the server’s text, leaves nothing', async (visit) => {
    const { site } = visit
    const { acquiring } = await waiter(visit, 'a')
    await site.begin()
    isTrouble(site.trouble, await rejection(acquiring))
    await site.end()
    await site.redis.del('a')
    await sleep(visit.kind.lapse)
    assert.deepEqual(await site.keys(), [])
  })
}

const unhinderedAcquires = (scenario: Scenario): void => {
  scenario('acquire → nobody notices', async ({ site, lock, told }) => {
    for (const name of ['a', 'b']) {
      await site.begin()
      const hold = await lock(name).acquire()
      assert.equal(await hold.release(), true)
    }
    assert.deepEqual(told, { uncertain: [], lost: [], errors: [] })
  })

  scenario('acquire that waits already → has the lock when it is free', async (visit) => {
    const { acquiring } = await waiter(visit, 'a')
    await visit.site.begin()
    const hold = await acquiring
    assert.equal(await hold.release(), true)
  })
}

const refusedRenewals = (scenario: Scenario): void => {
  scenario('renewal, the trouble ends in time → uncertain once, then held again, never lost', async (visit) => {
    const { site, lock, told } = visit
    const hold = await lock('a').acquire()
    const { signal } = hold
    await site.begin()
    await until(() => told.uncertain.length > 0)
    assert.equal(hold.state, 'uncertain')
    // Long enough for a second try to fail.
    await sleep(200)
    await site.end()
    await until(() => hold.state !== 'uncertain')
    assert.equal(hold.state, 'held')
    assert.ok((await site.redis.pttl('a')) > WATCHDOG / 2)
    await sleep(WATCHDOG / 2)
    await until(() => hold.state === 'held')
    assert.equal(signal.aborted, false)
    const [first, ...again] = told.uncertain
    if (restarts(site)) isTroubleOrCut(site, first)
    else isTrouble(site.trouble, first)
    // A connection to a replica is replaced, and then the hold is in doubt until the server has confirmed it.
    const replaced = ['READONLY', 'MASTERDOWN'].includes(site.trouble.code)
    assert.ok(again.length <= (replaced ? 2 : 0) && again.every((cause) => hasCode('OFFLINE', cause)), String(again))
    assert.deepEqual(told.lost, [])
    assert.equal(await hold.release(), true)
  })

  scenario('renewal, the trouble stays → uncertain once, then lost before the lease ends, for good', async (visit) => {
    const { site, lock, told } = visit
    const hold = await lock('a').acquire()
    let at = NaN
    hold.signal.addEventListener('abort', () => (at = Date.now()))
    const kept = await keptUntil(site, 'a')
    await site.begin()
    const states = new Set<string>()
    await until(() => states.add(hold.state) && hold.signal.aborted)
    assert.ok(at < kept, `told ${at - kept} ms after the server’s lease was over`)
    // A trouble that cuts the connection puts it in doubt at once.
    if (restarts(site)) states.delete('held')
    assert.deepEqual([...states], restarts(site) ? ['uncertain', 'lost'] : ['held', 'uncertain', 'lost'])
    assert.equal(told.uncertain.length, 1)
    if (restarts(site)) isTroubleOrCut(site, told.uncertain[0])
    else isTrouble(site.trouble, told.uncertain[0])
    const { reason } = hold.signal as { reason: unknown }
    assert.ok(reason instanceof LockLostError, String(reason))
    assert.deepEqual(told.lost, [reason])
    assert.equal(hold.remaining(), 0)
    await site.end()
    assert.equal(await hold.release(), false)
    assert.equal(hold.state, 'lost')
    const next = await lock('a').acquire()
    assert.equal(hold.state, 'lost')
    assert.equal(await next.release(), true)
    // Many may read at a time: what was lost ends by itself, beside the next.
    await until(async () => (await site.keys()).length === 0, 1000)
  })
}

const unhinderedRenewals = (scenario: Scenario): void => {
  scenario('renewal → nobody notices', async ({ site, lock, told }) => {
    const hold = await lock('a').acquire()
    const kept = await keptUntil(site, 'a')
    await site.begin()
    await until(async () => (await keptUntil(site, 'a')) > kept + WATCHDOG)
    assert.equal(hold.state, 'held')
    assert.deepEqual(told, { uncertain: [], lost: [], errors: [] })
    assert.equal(await hold.release(), true)
  })
}

const refusedReleases = (scenario: Scenario): void => {
  scenario('release, the trouble ends in time → true, and the key is gone', async ({ site, lock }) => {
    const hold = await lock('a').acquire({ lease: 20_000 })
    const held = await lock('b').acquire()
    await site.begin()
    const releases = [watch(hold.release()), watch(held.release())]
    await sleep(300)
    for (const release of releases) assert.equal(release.settled, false)
    await site.end()
    for (const release of releases) assert.equal(await release.promise, true)
    assert.deepEqual(await site.keys(), [])
  })

  scenario('release, the trouble stays → false when the lease is over', async ({ site, lock, told }) => {
    const hold = await lock('a').acquire({ lease: 2000 })
    const kept = await keptUntil(site, 'a')
    await site.begin()
    assert.equal(await hold.release(), false)
    assert.ok(Date.now() < kept + 1500)
    assert.equal(hold.state, 'released')
    for (const error of told.errors) isTroubleOrCut(site, error)
    assert.ok(told.errors.length > 0)
    await sleep(Math.max(0, kept - Date.now()) + 10)
    await site.end()
  })
}

const unhinderedReleases = (scenario: Scenario): void => {
  scenario('release → true at once', async ({ site, client, lock }) => {
    const owner = client.owner()
    const outer = await lock('a').acquire({ owner })
    const inner = await lock('a').acquire({ owner })
    await site.begin()
    const began = performance.now()
    assert.equal(await inner.release(), true)
    assert.equal(outer.state, 'held')
    assert.equal(await outer.release(), true)
    assert.ok(performance.now() - began < 1000)
    assert.deepEqual(await site.keys(), [])
  })
}

/** Scripts that the server stops after their first write. */
const halfway = (scenario: Scenario): void => {
  const allow = (site: Site, ...rules: string[]): Promise<unknown> =>
    site.redis.call('ACL', 'SETUSER', 'app', '+@all', 'allchannels', ...rules)

  scenario('acquire, stopped when the field is written → rejects, and the field is gone', async ({ site, lock }) => {
    await allow(site, '-pexpire')
    isTrouble(site.trouble, await rejection(lock('a').acquire()))
    await until(async () => (await site.keys()).length === 0, 2000)
    await allow(site)
  })

  scenario('release that may not be told → true, and the key is gone', async ({ site, lock, told }) => {
    for (const rule of ['-publish', 'resetchannels']) {
      await allow(site)
      const hold = await lock('a').acquire()
      await allow(site, rule)
      assert.equal(await hold.release(), true)
      assert.deepEqual(await site.keys(), [])
    }
    await allow(site)
    assert.deepEqual(told, { uncertain: [], lost: [], errors: [] })
  })

  scenario('renewal that may not look → uncertain once, then held again, never lost', async (visit) => {
    const { kind, site, lock, told } = visit
    const hold = await lock('a').acquire()
    await allow(site, `-${kind.looks}`)
    await until(() => told.uncertain.length + told.lost.length > 0)
    assert.equal(hold.state, 'uncertain')
    isTrouble(site.trouble, told.uncertain[0])
    await allow(site)
    await until(() => hold.state !== 'uncertain')
    assert.equal(await hold.release(), true)
    assert.equal(told.uncertain.length, 1)
  })
}

const tests = (trouble: Trouble, scenario: Scenario): void => {
  if (trouble.acquire === 'refuses') {
    refusedAcquires(scenario)
    if (trouble.passes) waitedOut(scenario)
    else notWaitedOut(scenario)
  } else unhinderedAcquires(scenario)
  if (trouble.upkeep === 'refuses') {
    refusedRenewals(scenario)
    refusedReleases(scenario)
  } else {
    unhinderedRenewals(scenario)
    unhinderedReleases(scenario)
  }
  if (trouble.name === 'NOPERM within the script') halfway(scenario)
}

void describe('G-24: trouble at the server', { concurrency: troubles.length }, () => {
  for (const trouble of troubles) {
    void describe(trouble.name, { concurrency: 1 }, () => {
      const scenario = onSite(trouble)
      for (const kind of KINDS) tests(trouble, scenario(kind))
    })
  }
})
