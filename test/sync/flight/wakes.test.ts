import assert from 'node:assert/strict'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { flightClaim, flightFinish } from '#src/lua/scripts.gen.js'
import { NoReply } from '#src/engine/driver.js'
import { onStage, type Stage } from '../../support/stage.js'
import { SwitchedDriver } from '../../support/switched-driver.js'

const KEYS = ['{f}:flight:a', '{f}:flights:token']

type Client = Stage['client']

interface Pair extends Stage {
  readonly computes: Client
  readonly its: SwitchedDriver
  readonly waits: Client
}

/** How the process that computes ends without a value; resolves when its calls have ended. */
type End = (pair: Pair) => Promise<unknown>

/** ms. A look comes each second by itself. */
const AT_ONCE = 100

/** The client that waits has looked just now: its own next look would come a second later. */
const ends = (how: string, begin: (pair: Pair) => Promise<End>): void => {
  onStage(`${how} → another process that waits computes at once`, async (stage) => {
    const { run, raw, clock, server } = stage
    await run(stage.client.flight('f').run('a', () => 1))
    raw('DEL', ...KEYS)
    const its = new SwitchedDriver(new MemoryDriver(server, 'computes'))
    const computes = await stage.other(its)
    computes.on('error', () => undefined)
    const waits = await stage.other(new SwitchedDriver(new MemoryDriver(server, 'waits')))
    const pair = { ...stage, its, computes, waits }
    const end = await begin(pair)
    let begun: number | undefined
    const waiting = waits.flight('f').run('a', () => {
      begun ??= clock.monotonic()
      return 'taken over'
    })
    await clock.advance(100)
    assert.equal(begun, undefined, 'it waits')
    const at = clock.monotonic()
    const ended = end(pair)
    assert.equal((await run(waiting)).value, 'taken over')
    assert.ok(begun! - at < AT_ONCE, `${begun! - at} ms`)
    await run(ended)
    raw('DEL', ...KEYS)
  })
}

/** Its work runs until it is told to end. */
const working = async ({ computes, clock }: Pair, obeys = true) => {
  let open!: () => void
  const work = new Promise<void>((resolve) => (open = resolve))
  let begun = false
  const call = computes.flight('f').run('a', async ({ signal }) => {
    begun = true
    if (obeys) signal.addEventListener('abort', () => open())
    await work
    signal.throwIfAborted()
    return 'mine'
  })
  call.catch(() => undefined)
  await clock.advance(10)
  assert.ok(begun)
  return { open, call }
}

const settled = (call: Promise<unknown>): Promise<unknown> => Promise.allSettled([call])

for (const obeys of [true, false])
  ends(`its client closes while its work runs, which ${obeys ? 'stops' : 'goes on'}`, async (pair) => {
    const { open, call } = await working(pair, obeys)
    return async ({ computes }) => {
      await computes.close()
      open()
      await settled(call)
    }
  })

ends('the server refuses for good to store how it ended', async (pair) => {
  const { open, call } = await working(pair)
  const send = pair.its.send.bind(pair.its)
  pair.its.send = (argv, options) =>
    argv.some((word) => String(word).includes(flightFinish.sha))
      ? Promise.reject(new Error('NOPERM this user has no permissions'))
      : send(argv, options)
  return () => {
    open()
    return call
  }
})

ends('the server refuses for good to give it a token', async ({ its, computes, clock }) => {
  let refuse!: () => void
  const send = its.send.bind(its)
  its.send = (argv, options) =>
    argv.some((word) => String(word).includes(flightClaim.sha))
      ? new Promise((_resolve, reject) => (refuse = () => reject(new Error('NOPERM no permissions'))))
      : send(argv, options)
  const call = settled(computes.flight('f').run('a', () => assert.fail('it has no token')))
  await clock.advance(10)
  return () => {
    refuse()
    return call
  }
})

ends('its call ends before its work began', async ({ its, computes, clock }) => {
  const stop = new AbortController()
  let lose!: () => void
  const send = its.send.bind(its)
  its.send = (argv, options) =>
    argv.some((word) => String(word).includes(flightClaim.sha))
      ? new Promise((_resolve, reject) => (lose = () => reject(new NoReply('lost'))))
      : send(argv, options)
  const call = settled(computes.flight('f').run('a', { signal: stop.signal }, () => assert.fail('its call has ended')))
  await clock.advance(10)
  return () => {
    stop.abort(new Error('enough'))
    lose()
    return call
  }
})

ends('it hears that another has ended since it looked, and does not compute', async ({ its, computes, clock, raw }) => {
  let go!: () => void
  const wait = new Promise<void>((resolve) => (go = resolve))
  const send = its.send.bind(its)
  its.send = async (argv, options) => {
    if (argv.some((word) => String(word).includes(flightClaim.sha))) await wait
    return send(argv, options)
  }
  const call = settled(computes.flight('f').run('a', () => 'second'))
  await clock.advance(10)
  const theirs = ['state', 'value', 'token', '7', 'ended', clock.now(), 'form', 'text', 'value', '"earlier"']
  raw('HSET', '{f}:flight:a', ...theirs)
  return () => {
    go()
    return call
  }
})

onStage(
  'work fails, and its process is slow to free the key → a call that retries computes once it is free',
  async (stage) => {
    const { run, raw, clock, server } = stage
    await run(stage.client.flight('f').run('a', () => 1))
    raw('DEL', ...KEYS)
    const its = new SwitchedDriver(new MemoryDriver(server, 'computes'))
    const computes = await stage.other(its)
    const waits = await stage.other(new SwitchedDriver(new MemoryDriver(server, 'waits')))
    let fail!: (error: Error) => void
    const failed = computes.flight('f').run('a', () => new Promise((_resolve, reject) => (fail = reject)))
    failed.catch(() => undefined)
    await clock.advance(10)
    let begun: number | undefined
    const retried = waits.flight('f').run('a', { failure: 'retry' }, () => {
      begun ??= clock.monotonic()
      return 'mine'
    })
    await clock.advance(100)
    let go!: () => void
    const held = new Promise<void>((resolve) => (go = resolve))
    const send = its.send.bind(its)
    its.send = async (argv, options) => {
      if (!argv.some((word) => String(word).includes(flightFinish.sha))) await held
      return send(argv, options)
    }
    fail(new Error('broken'))
    await clock.advance(200)
    assert.equal(begun, undefined, 'the key is not free')
    const at = clock.monotonic()
    go()
    assert.equal((await run(retried)).value, 'mine')
    assert.ok(begun! - at < AT_ONCE, `${begun! - at} ms`)
    await run(assert.rejects(failed, /broken/))
    raw('DEL', ...KEYS)
  },
)
