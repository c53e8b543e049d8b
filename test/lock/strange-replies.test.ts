import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EngineError, type Hold } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import type { Arg, Reply } from '#src/engine/engine.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import { kinds } from '../contract/kinds.js'
import type { LockKind } from '../contract/lock.contract.js'
import { watch } from '../contract/lock/kind.js'
import type { Client } from '../engines.js'
import { StrangeDriver } from '../support/strange-driver.js'

const scripts = new Map<unknown, Script>(
  Object.values(generated as Record<string, Script>).flatMap((one) => [
    [one.sha, one],
    [one.text, one],
  ]),
)

/** What comes in place of a reply. */
const STRANGE: Readonly<Record<string, (reply: Reply) => unknown>> = {
  nil: () => null,
  'a number as text': (reply) => (typeof reply === 'number' ? String(reply) : '-2'),
  'a text that is no number': () => 'NaN',
  QUEUED: () => 'QUEUED',
  'nested lists': (reply) => [[reply]],
  'an empty list': () => [],
  'a list too short': (reply) => (Array.isArray(reply) ? reply.slice(0, -1) : [reply]),
  'a list too long': (reply) => (Array.isArray(reply) ? [...reply, 0] : [reply, 0]),
  'a list within that is too short': (reply) =>
    Array.isArray(reply) ? reply.map((item) => (Array.isArray(item) ? item.slice(0, -1) : item)) : {},
  'a number beyond what is exact': () => 2 ** 53,
  'not a number': () => NaN,
  bytes: () => Buffer.from('1'),
  true: () => true,
  'an error': () => new Error('ERR strange'),
  'a map': () => ({ held: 1 }),
}

interface Scene {
  readonly one: Client
  readonly other: Client
  readonly name: string
  run<T>(promise: Promise<T>): Promise<T>
  pass(ms: number): Promise<void>
  /** No hold is believed that the server does not have. */
  check(hold: Hold | undefined): void
}

type Attempt = <T>(what: Promise<T>) => Promise<T | undefined>

/** Every operation of a lock, alone and with another who waits. */
const useLock = async (kind: LockKind, scene: Scene, attempt: Attempt): Promise<void> => {
  const { one, other, name, pass, check } = scene
  const [mine, theirs] = [kind.make(one, name), kind.make(other, name)]
  const hold = await attempt(mine.acquire())
  check(hold)
  for (const ask of [() => mine.isLocked(), () => mine.remaining(), () => mine.inspect()]) await attempt<unknown>(ask())
  const abort = new AbortController()
  const waiting = attempt(theirs.acquire({ wait: 40_000, lease: 20_000 }))
  const leaving = attempt(theirs.acquire({ signal: abort.signal }))
  await pass(1500)
  abort.abort(new Error('left'))
  await pass(11_000)
  check(hold)
  if (kind.reentrant && hold !== undefined && kind.mode !== 'write') {
    const inner = await attempt(mine.acquire({ owner: hold.owner }))
    if (inner !== undefined) await attempt(inner.release())
  }
  const ticket = hold === undefined ? undefined : await attempt(hold.detach())
  const adopted = ticket === undefined ? undefined : await attempt(one.adopt(ticket))
  check(adopted)
  for (const held of [adopted, hold]) if (held !== undefined) await attempt(held.release())
  await attempt(leaving)
  const second = await waiting
  check(second)
  if (second !== undefined) {
    await attempt(second.extend(25_000))
    check(second)
    await attempt(second.release())
  }
  const third = await attempt(mine.acquire({ lease: 5000, wait: 1000 }))
  check(third)
  await attempt(theirs.forceRelease())
  const me = mine.for(one.owner())
  await attempt(me.tryLock(100, 1000))
  const steps = [
    () => me.isHeld(),
    () => me.holdCount(),
    () => me.remainTimeToLive(),
    () => me.unlock(),
    () => me.forceUnlock(),
  ]
  for (const step of steps) await attempt<unknown>(step())
  if (third !== undefined) await attempt(third.release())
}

let scenes = 0

interface Outcome {
  readonly used: Set<string>
  readonly refused: number
}

/** One history of a kind in which `strange` changes replies for a while. */
const play = async (
  kind: LockKind,
  strange: (script: Script, argv: readonly Arg[], reply: Reply) => Reply,
): Promise<Outcome> => {
  const clock = virtualClock((scenes += 1))
  const id = `strange${scenes}-${process.pid}`
  const server = openMemoryServer(id, clock)
  const used = new Set<string>()
  let refused = 0
  let isStrange = true
  const opened: Client[] = []
  const errors: unknown[] = []
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    const seen = watch(promise)
    let step = 1
    const limit = clock.now() + 600_000
    for (await clock.advance(0); !seen.settled; await clock.advance(step)) {
      assert.ok(clock.now() < limit, 'it hangs')
      step = Math.min(200, step * 2)
    }
    return promise
  }
  const open = async (): Promise<Client> => {
    const driver = new StrangeDriver(new MemoryDriver(server, id))
    const client = await run(
      start(settle({ url: `memory:${id}`, clock, presence: false, ...kind.options }, {}), driver),
    )
    client.on('error', (error) => errors.push(error))
    driver.changes = (argv, reply) => {
      const script = scripts.get(argv[1])
      if (script === undefined || reply instanceof Error) return reply
      used.add(script.name)
      return isStrange ? strange(script, argv, reply) : reply
    }
    opened.push(client)
    return client
  }
  const attempt: Attempt = async (what) => {
    try {
      return await run(what)
    } catch (error) {
      assert.ok(error instanceof Error, String(error))
      assert.ok(!(error instanceof SyntaxError || error instanceof RangeError), String(error.stack))
      assert.doesNotMatch(error.message, /undefined|reading '|is not a function|is not iterable/, String(error.stack))
      if (error instanceof EngineError && error.code === 'BAD_REPLY') refused += 1
      return undefined
    }
  }
  const name = 'n'
  const check = (hold: Hold | undefined): void => {
    if (hold?.state !== 'held') return
    const exists = server.execute(['EXISTS', name])
    assert.equal(exists, 1, 'it is held, the server says not')
    assert.ok(Number.isFinite(hold.remaining()), `remaining() is ${hold.remaining()}`)
  }
  const [one, other] = [await open(), await open()]
  const scene: Scene = { one, other, name, run, pass: (ms) => clock.advance(ms), check }
  await useLock(kind, scene, attempt)
  isStrange = false
  await clock.advance(200_000)
  for (const client of [one, other]) {
    const hold = await run(kind.make(client, name).acquire({ wait: 60_000 }))
    assert.equal(await run(hold.release()), true)
  }
  for (const client of opened) await run(client.close())
  await clock.advance(130_000)
  const left = (server.execute(['KEYS', '*']) as string[]).filter((key) => !key.startsWith('redisson_lock_token'))
  assert.deepEqual(left, [])
  closeMemoryServer(server)
  return { used, refused }
}

const SOME = process.env['HOLDFAST_STRANGE'] === 'all' ? Infinity : 2

void describe('a strange reply of a script', () => {
  for (const kind of kinds) {
    test(`${kind.name}: nothing is held by it, nothing hangs, nothing is left`, async () => {
      const unhandled: unknown[] = []
      const note = (reason: unknown): void => void unhandled.push(reason)
      process.on('unhandledRejection', note)
      const { used } = await play(kind, (_script, _argv, reply) => reply)
      let turn = kinds.indexOf(kind)
      for (const name of used) {
        const ways = Object.entries(STRANGE)
        for (let i = 0; i < Math.min(SOME, ways.length); i++) {
          const [way, change] = ways[(turn += 7) % ways.length] as (typeof ways)[number]
          let changed = 0
          try {
            await play(kind, (script, argv, reply) => {
              const strange = change(reply)
              if (script.name !== name || script.fits(strange, argv)) return reply
              changed += 1
              return strange
            })
          } catch (error) {
            throw new Error(`${name} answered with ${way} (${changed} times): ${(error as Error).message}`, {
              cause: error,
            })
          }
        }
      }
      process.off('unhandledRejection', note)
      assert.deepEqual(unhandled, [])
    })
  }
})
