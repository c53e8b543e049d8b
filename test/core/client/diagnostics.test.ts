import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe } from 'node:test'
import type { DiagnosticEvent, DiagnosticMessage, Hold } from 'holdfast'
import { LockLostError } from 'holdfast'
import { systemClock } from '#src/base/clock.js'
import { LockEvents } from '#src/core/client/lock-events.js'
import type { CallWatch } from '#src/core/client/observed-call.js'
import { Emitter } from '#src/base/emitter.js'
import { rejection, timed } from '../../suites/contract/lock/kind.js'
import type { Client, World } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'

type Told = readonly [event: DiagnosticEvent, message: DiagnosticMessage]

const EVENTS: readonly DiagnosticEvent[] = ['acquire', 'wait', 'grant', 'end', 'renew', 'lost', 'release']

/** What these clients tell while the body runs. Other tests may run beside it. */
const listening = async (body: (told: (Told | undefined)[], only: (...clients: Client[]) => void) => Promise<void>) => {
  const told: Told[] = []
  const ids = new Set<string>()
  const listeners = EVENTS.map((event) => {
    const listener = (message: unknown): void => {
      const one = message as DiagnosticMessage
      if (ids.has(one.client)) told.push([event, one])
    }
    subscribe(`holdfast:${event}`, listener)
    return () => unsubscribe(`holdfast:${event}`, listener)
  })
  try {
    await body(told, (...clients) => {
      for (const { id } of clients) ids.add(id)
    })
  } finally {
    for (const stop of listeners) assert.ok(stop())
  }
}

const names = (told: readonly (Told | undefined)[]): string[] =>
  told.map((one) => {
    const [event, { name, local }] = one as Told
    return `${event} ${name}${local === true ? ' here' : ''}`
  })

const messagesOf = (told: readonly (Told | undefined)[], event: DiagnosticEvent): DiagnosticMessage[] =>
  told.filter((one) => one?.[0] === event).map((one) => (one as Told)[1])

const isWire = (world: World, client: Client, owner: string | undefined): void => {
  assert.match(owner ?? '', new RegExp(`^${client.id}:\\d+$`), world.engine)
}

void describe('diagnostics', { concurrency: true }, () => {
  for (const engine of engines) {
    void describe(engine.name, () => {
      const scenario = scenarios(engine)

      scenario('a lock taken and given back → acquire, grant, release, each with all that is documented', (w) =>
        listening(async (told, only) => {
          const client = await w.connect()
          only(client)
          const hold = await w.run(client.lock(w.id).acquire())
          assert.deepEqual(names(told), [`acquire ${w.id}`, `grant ${w.id}`])
          await w.pass(100)
          await w.run(hold.release())
          const about = { client: client.id, kind: 'lock', name: w.id, id: messagesOf(told, 'acquire')[0]?.id }
          assert.equal(typeof about.id, 'number')
          const [acquire, grant, release] = told.map((one) => (one as Told)[1])
          assert.deepEqual(acquire, about)
          isWire(w, client, grant?.owner)
          assert.equal(typeof grant?.hold, 'number')
          const { hold: number, owner } = grant ?? {}
          assert.deepEqual(grant, { ...about, hold: number, owner, elapsed: grant?.elapsed, local: false })
          assert.ok((grant.elapsed ?? -1) >= 0 && (grant.elapsed ?? Infinity) <= w.slack)
          const { elapsed } = release ?? {}
          assert.deepEqual(release, { ...about, hold: number, owner, elapsed, outcome: 'released' })
          assert.ok((release.elapsed ?? 0) >= 99 && (release.elapsed ?? Infinity) <= 100 + w.slack)
          assert.equal(told.length, 3)
        }),
      )

      scenario('the owner told → the one that the server has', (w) =>
        listening(async (told, only) => {
          const client = await w.connect()
          only(client)
          const hold = await w.run(client.lock(w.id).acquire())
          assert.deepEqual(await w.raw('HKEYS', w.id), [messagesOf(told, 'grant')[0]?.owner])
          await w.run(hold.release())
        }),
      )

      scenario('a wait for another client → one wait, then the grant with the whole time', (w) =>
        listening(async (told, only) => {
          const [holder, waiter] = [await w.connect(), await w.connect()]
          const hold = await w.run(holder.lock(w.id).acquire())
          only(waiter)
          const waiting = waiter.lock(w.id).acquire()
          await w.pass(3000)
          assert.deepEqual(names(told), [`acquire ${w.id}`, `wait ${w.id}`])
          await w.run(hold.release())
          const second = await w.run(waiting)
          const [grant] = messagesOf(told, 'grant')
          assert.equal(grant?.local, false)
          assert.ok((grant.elapsed ?? 0) >= 2990 && (grant.elapsed ?? Infinity) <= 3000 + w.slack)
          await w.run(second.release())
          assert.deepEqual(names(told), [`acquire ${w.id}`, `wait ${w.id}`, `grant ${w.id}`, `release ${w.id}`])
          const { id } = grant
          assert.deepEqual(messagesOf(told, 'wait'), [{ client: waiter.id, kind: 'lock', name: w.id, id }])
        }),
      )

      scenario('a hold passed on within the process → release and a local grant of the same owner', (w) =>
        listening(async (told, only) => {
          const client = await w.connect()
          only(client)
          const lock = client.lock(w.id)
          const rounds = async (): Promise<void> => {
            for (let i = 0; i < 50; i += 1) await lock.using(() => undefined)
          }
          await w.run(Promise.all([rounds(), rounds()]))
          const grants = messagesOf(told, 'grant')
          assert.equal(grants.length, 100)
          assert.equal(messagesOf(told, 'release').length, 100)
          assert.equal(messagesOf(told, 'acquire').length, 100)
          assert.ok(grants.some(({ local }) => local === true))
          const byOwner = new Map<string | undefined, string[]>()
          for (const one of told) {
            const [event, { owner, local }] = one as Told
            if (event !== 'grant' && event !== 'release') continue
            const story = byOwner.get(owner) ?? []
            byOwner.set(owner, story)
            story.push(local === true ? 'local grant' : event)
          }
          for (const story of byOwner.values()) {
            const expected = story.map((_, i) => (i % 2 === 1 ? 'release' : i === 0 ? 'grant' : 'local grant'))
            assert.deepEqual(story, expected)
          }
        }),
      )

      scenario(
        'a try that is not had, a time limit, an abort → acquire and wait, and an end that says why, with no grant',
        (w) =>
          listening(async (told, only) => {
            const [holder, client] = [await w.connect(), await w.connect()]
            const hold = await w.run(holder.lock(w.id).acquire())
            only(client)
            const lock = client.lock(w.id)
            assert.equal(await w.run(lock.tryAcquire()), undefined)
            assert.equal(messagesOf(told, 'end')[0]?.outcome, 'refused')
            assert.deepEqual(names(told.splice(0)), [`acquire ${w.id}`, `end ${w.id}`])
            assert.equal(await w.run(lock.tryAcquire({ wait: 300 })), undefined)
            const [late] = messagesOf(told, 'end')
            assert.equal(late?.outcome, 'timeout')
            assert.ok((late.elapsed ?? 0) >= 299 && (late.elapsed ?? Infinity) <= 300 + w.slack)
            assert.deepEqual(names(told.splice(0)), [`acquire ${w.id}`, `wait ${w.id}`, `end ${w.id}`])
            const abort = new AbortController()
            const waiting = rejection(lock.acquire({ signal: abort.signal }))
            await w.pass(300)
            abort.abort()
            await w.run(waiting)
            const [aborted] = messagesOf(told, 'end')
            assert.deepEqual([aborted?.outcome, aborted?.error], ['aborted', abort.signal.reason])
            assert.deepEqual(names(told.splice(0)), [`acquire ${w.id}`, `wait ${w.id}`, `end ${w.id}`])
            await w.run(hold.release())
            await w.pass(300)
            assert.deepEqual(told, [])
          }),
      )

      scenario('arguments that are refused, a signal aborted before → nothing is told', (w) =>
        listening(async (told, only) => {
          const client = await w.connect()
          only(client)
          await rejection(client.lock(w.id).acquire({ wait: -1 }))
          await rejection(client.lock(w.id).acquire({ signal: AbortSignal.abort() }))
          assert.deepEqual(told, [])
        }),
      )

      scenario('a hold renewed by the watchdog → renew each third of the lease, with its owner; none on a lease', (w) =>
        listening(async (told, only) => {
          const client = await w.connect({ watchdog: 3000 })
          only(client)
          const hold = await w.run(client.lock(w.id).acquire())
          const leased = await w.run(client.lock(`${w.id}:leased`).acquire({ lease: 20_000 }))
          await w.pass(4500)
          const renewals = messagesOf(told, 'renew')
          assert.ok(renewals.length >= 2 && renewals.length <= 5, `${renewals.length} renewals`)
          const owner = messagesOf(told, 'grant')[0]?.owner
          for (const renewal of renewals)
            assert.deepEqual(renewal, { client: client.id, kind: 'lock', name: w.id, owner })
          await w.run(Promise.all([hold.release(), leased.release()]))
          told.splice(0)
          await w.pass(2000)
          assert.deepEqual(told, [], 'nothing after the release')
        }),
      )

      scenario('a hold lost by force → lost once, with the error of the signal, and one release that says so', (w) =>
        listening(async (told, only) => {
          const [client, other] = [await w.connect({ watchdog: 9000 }), await w.connect()]
          only(client)
          const hold: Hold = await w.run(client.lock(w.id).acquire())
          const { signal } = hold
          await w.run(other.lock(w.id).forceRelease())
          await w.eventually(() => hold.lost)
          assert.equal(await w.run(hold.release()), false)
          await w.pass(1500)
          const [lost, ...more] = messagesOf(told, 'lost')
          const releases = messagesOf(told, 'release').map(({ outcome }) => outcome)
          assert.deepEqual([more, releases], [[], ['forced']])
          assert.ok(lost?.error instanceof LockLostError)
          assert.equal(lost.error, signal.reason)
          assert.equal(lost.owner, messagesOf(told, 'grant')[0]?.owner)
          assert.equal(lost.name, w.id)
        }),
      )

      scenario('a fixed lease that runs out → lost, within its time', (w) =>
        listening(async (told, only) => {
          const client = await w.connect()
          only(client)
          await w.run(client.lock(w.id).acquire({ lease: 1000 }))
          const { ms } = await timed(w, () => w.eventually(() => messagesOf(told, 'lost').length > 0))
          assert.ok(ms <= 1000 + w.slack, `${ms} ms`)
          await w.pass(500)
          assert.deepEqual(names(told), [`acquire ${w.id}`, `grant ${w.id}`, `release ${w.id}`, `lost ${w.id}`])
          assert.equal(messagesOf(told, 'release')[0]?.outcome, 'lost')
        }),
      )

      scenario('taken again by its owner → an acquire, a grant and a release for each level', (w) =>
        listening(async (told, only) => {
          const client = await w.connect()
          only(client)
          const lock = client.lock(w.id)
          const outer = await w.run(lock.acquire())
          const inner = await w.run(lock.acquire({ owner: outer.owner }))
          await w.run(inner.release())
          const [inside] = messagesOf(told, 'release')
          await w.run(outer.release())
          assert.equal(messagesOf(told, 'acquire').length, 2)
          const [first, second] = messagesOf(told, 'grant')
          assert.deepEqual([inside?.id, inside?.hold], [second?.id, second?.hold])
          assert.deepEqual(messagesOf(told, 'release')[1]?.hold, first?.hold)
          assert.equal(messagesOf(told, 'release').length, 2)
        }),
      )

      scenario('the kind → as the client’s method is called', (w) =>
        listening(async (told, only) => {
          const client = await w.connect()
          only(client)
          await w.run(client.nonReentrantLock(w.id).using(() => undefined))
          assert.deepEqual(new Set(told.map((one) => (one as Told)[1].kind)), new Set(['nonReentrantLock']))
        }),
      )

      scenario('the client closed while it holds → release', (w) =>
        listening(async (told, only) => {
          const client = await w.connect()
          only(client)
          await w.run(client.lock(w.id).acquire())
          await w.run(client.close())
          assert.deepEqual(names(told), [`acquire ${w.id}`, `grant ${w.id}`, `release ${w.id}`])
        }),
      )
    })
  }
})

void describe('diagnostics with nobody listening', () => {
  const [engine] = engines
  assert.ok(engine !== undefined)
  const scenario = scenarios(engine)

  scenario(
    'nobody listens → a call is run as it is, and a message is built only for a channel that has listeners',
    async () => {
      let asked = 0
      const clock = { ...systemClock, monotonic: () => ++asked }
      const teller = new LockEvents(clock, new Emitter((error) => assert.fail(String(error))), '')
      const lock = { name: '', kind: { name: '' } }
      const request: { wait: number; call?: CallWatch } = { wait: 0 }
      const answer = Promise.resolve('granted')
      assert.equal(
        teller.call(lock, request, () => answer),
        answer,
      )
      assert.deepEqual([request, asked, teller.nextNumber()], [{ wait: 0 }, 0, 1])
      const told: unknown[] = []
      const listener = (message: unknown): void => void told.push(message)
      subscribe('holdfast:grant', listener)
      try {
        await teller.call(lock, request, () => answer)
      } finally {
        unsubscribe('holdfast:grant', listener)
      }
      assert.equal(told.length, 1)
      assert.ok(request.call !== undefined)
    },
  )
})
