import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Hold, Lock } from 'holdfast'
import { Redis } from 'ioredis'
import { grantTo } from '../../support/grant.js'
import { type Broken, onServer } from '../../support/server.js'

const NAME = 'a'

interface Line {
  readonly lock: (client: Client) => Lock
  readonly channel: (client: Client) => string
  readonly queue: string
}

const LINES: Readonly<Record<string, Line>> = {
  'fair lock': {
    lock: (client) => client.fairLock(NAME),
    channel: ({ id }) => `holdfast_grant:{${NAME}}:${id}`,
    queue: `redisson_lock_queue:{${NAME}}`,
  },
  'fair read-write lock': {
    lock: (client) => client.readWriteLock(NAME, { fair: true }).write,
    channel: ({ id }) => `holdfast_rwlock_grant:{${NAME}}:${id}:write`,
    queue: `holdfast_rwlock_queue:{${NAME}}`,
  },
}

/** Never for an instant are there two who would each say that they have it. */
class Inside {
  readonly #holds = new Set<Hold>()
  most = 0

  enter(hold: Hold): void {
    this.#holds.add(hold)
    this.look()
  }

  leave(hold: Hold): void {
    this.#holds.delete(hold)
  }

  look(): void {
    const inside = [...this.#holds].filter((hold) => hold.remaining() > 0).length
    this.most = Math.max(this.most, inside)
  }
}

const microseconds = (): string => `${Date.now()}000`

for (const [kind, { lock, channel, queue }] of Object.entries(LINES)) {
  const waitsFor = async (broken: Broken, length: number): Promise<void> => {
    await broken.until(async () => (await broken.redis.llen(queue)) === length)
  }

  onServer(`${kind}: messages name the owner of a hold → it is still held, and nobody else starts`, async (broken) => {
    const [one, two] = [await broken.open(), await broken.open()]
    const hold = await lock(one).acquire()
    const inside = new Inside()
    inside.enter(hold)
    const waiting = [lock(one), lock(two)].map((each) =>
      each.acquire().then(async (next) => {
        inside.enter(next)
        await sleep(5)
        inside.leave(next)
        await next.release()
      }),
    )
    await waitsFor(broken, 2)
    const [owner = ''] = (await broken.redis.hkeys(NAME)).filter((field) => field !== 'mode')
    const stood = await broken.redis.lrange(queue, '0', '-1')
    for (const client of [one, two]) {
      for (const wire of [owner, ...stood, owner.slice(37)]) {
        for (const more of ['', ' ', ' soon', ' 1', ' NaN', ` ${microseconds()}`, ` ${microseconds()} 1 2 3 +`])
          await broken.redis.publish(channel(client), wire + more)
      }
    }
    await sleep(300)
    inside.look()
    assert.equal(await broken.redis.hexists(NAME, owner), 1)
    assert.deepEqual(await broken.redis.lrange(queue, '0', '-1'), stood)
    assert.equal(hold.state, 'held')
    inside.leave(hold)
    assert.equal(await hold.release(), true)
    await Promise.all(waiting)
    assert.equal(inside.most, 1)
  })

  onServer(
    `${kind}: grants with guessed numbers, confirmations late → nobody starts beside the holder`,
    async (broken) => {
      const [one, two] = [await broken.open(), await broken.open()]
      const hold = await lock(one).acquire()
      let started = false
      const waiting = lock(two)
        .acquire()
        .then((next) => {
          started = true
          return next.release()
        })
      await waitsFor(broken, 1)
      // It knows the server's clock, and no poll of its is on its way for a while.
      await sleep(300)
      const numbers = Array.from({ length: 40 }, (_, i) => i)
      for (const number of numbers) {
        for (const text of [`${number} ${microseconds()}`, `${number} ${microseconds()} 1 2 +`]) {
          await broken.redis.publish(channel(two), text)
          await broken.redis.publish(channel(two), `${two.id}:${text}`)
          await broken.redis.publish(channel(two), `${two.id}:${text.replace(' ', ':write ')}`)
          await broken.redis.publish(channel(two), `${text} 0123456789abcdef`)
        }
      }
      await sleep(200)
      assert.equal(started, false)
      assert.equal(hold.state, 'held')
      assert.equal(await hold.release(), true)
      assert.equal(await waiting, true)
    },
  )

  onServer(`${kind}: a grant whose number and time are right, without proof → nobody starts`, async (broken) => {
    const [one, two] = [await broken.open(), await broken.open()]
    const hold = await lock(one).acquire()
    let started = false
    const waiting = lock(two)
      .acquire()
      .then((next) => {
        started = true
        return next.release()
      })
    await waitsFor(broken, 1)
    // A grant is believed at once while no question is on its way.
    await sleep(300)
    const [owner = ''] = await broken.redis.lrange(queue, '0', '-1')
    const number = Number.parseInt(owner.slice(37 + 9), 10)
    await broken.redis.publish(channel(two), `${number} ${microseconds()} 0123456789abcdef`)
    await sleep(200)
    assert.equal(started, false)
    assert.equal(hold.state, 'held')
    assert.equal(await hold.release(), true)
    assert.equal(await waiting, true)
  })

  onServer(`${kind}: made-up calls for seconds → no warning that the server counts nobody`, async (broken) => {
    const [one, two] = [await broken.open(), await broken.open()]
    const hold = await lock(one).acquire()
    const waiting = lock(two).acquire()
    await waitsFor(broken, 1)
    for (let n = 0; n < 40; n++) {
      await broken.redis.publish(channel(two), 'soon')
      await sleep(100)
    }
    assert.deepEqual(two.warnings, [])
    assert.equal(await hold.release(), true)
    assert.equal(await (await waiting).release(), true)
  })

  onServer(
    `${kind}: all that was said is said again, again and again → one at a time, in order, nothing is lost`,
    async (broken) => {
      const clients = [await broken.open(), await broken.open(), await broken.open()]
      const stranger = new Redis(broken.server.url)
      const parrot = stranger.duplicate()
      broken.after(() => [stranger, parrot].map((redis) => redis.disconnect()))
      const own = new Set<string>()
      const heard: [string, string][] = []
      await stranger.psubscribe(`*{${NAME}}*`)
      stranger.on('pmessage', (_: string, where: string, payload: string) => {
        if (own.has(payload)) return
        heard.push([where, payload])
        for (const [place, said] of [...heard.slice(-4), heard[heard.length >> 1] ?? heard[0]] as [string, string][]) {
          for (const text of [said, said.replace(/ \d{16}/, ` ${microseconds()}`), said.slice(0, -1)]) {
            own.add(text)
            parrot.publish(place, text).catch(() => undefined)
          }
        }
      })
      const inside = new Inside()
      const lost: Hold[] = []
      const end = performance.now() + 1500
      const visit = async (client: Client): Promise<void> => {
        while (performance.now() < end) {
          const hold = await lock(client).acquire()
          inside.enter(hold)
          await sleep(2)
          if (hold.state !== 'held') lost.push(hold)
          inside.leave(hold)
          await hold.release()
        }
      }
      await Promise.all(clients.flatMap((client) => [visit(client), visit(client)]))
      assert.equal(inside.most, 1)
      assert.deepEqual(lost, [])
      assert.ok(heard.length > 0)
    },
  )
}

const KINDS: Readonly<Record<string, (client: Client) => Lock>> = {
  'plain lock': (client) => client.lock(NAME),
  'fenced lock': (client) => client.fencedLock(NAME),
  'keyed lock': (client) => client.keyedLock(NAME, ['x', 'y']),
  'read-write lock, write': (client) => client.readWriteLock(NAME).write,
  ...Object.fromEntries(Object.entries(LINES).map(([kind, { lock }]) => [kind, lock])),
}

const scriptsRun = async ({ redis }: Broken): Promise<number> => {
  const calls = /^cmdstat_evalsha:calls=(\d+)/m.exec(await redis.info('commandstats'))
  return Number(calls?.[1] ?? 0)
}

for (const [kind, lock] of Object.entries(KINDS)) {
  for (const holds of ['another client', 'the same client']) {
    onServer(
      `${kind}: made-up messages while ${holds} holds it and 300 calls wait → one script for each at most`,
      async (broken) => {
        const [one, two] = [await broken.open(), await broken.open()]
        const first = await lock(one).acquire()
        // A client that waited hears of its grants.
        const next = holds === 'another client' ? undefined : lock(two).acquire()
        if (next !== undefined) await sleep(200).then(() => first.release())
        const hold = (await next) ?? first
        const waiting = Array.from({ length: 300 }, () => lock(two).acquire())
        const channels = async (): Promise<string[]> =>
          (await broken.redis.pubsub('CHANNELS', `*grant*${two.id}*`)) as string[]
        await broken.until(async () => (await channels()).length > 0)
        // All of them stand in the line by then.
        await sleep(1500)
        const [channel = ''] = await channels()
        let sent = 0
        const [since, before] = [performance.now(), await scriptsRun(broken)]
        for (let n = 1; n <= 12; n++) {
          for (const text of [
            'soon',
            '0',
            `${n} ${microseconds()} 0123456789abcdef`,
            `${n} ${microseconds()} 1 2 + 0123456789abcdef`,
          ]) {
            sent += await broken.redis.publish(channel, text)
            // The one before is answered.
            await sleep(20)
          }
        }
        await sleep(100)
        const [run, seconds] = [(await scriptsRun(broken)) - before, (performance.now() - since) / 1000]
        assert.equal(sent, 48)
        // Each process asks about 250 of its waiters in one script, each second.
        const polls = Math.ceil(seconds / 0.75) * 4
        assert.ok(run <= sent + polls, `${run} scripts for ${sent} messages, ${polls} polls`)
        assert.equal(hold.state, 'held')
        await Promise.all([one.close(), two.close(), ...waiting.map((each) => each.catch(() => undefined))])
      },
    )
  }
}

onServer('a flood of messages of 1 MB → none is read, and nobody asks for them', async (broken) => {
  const [one, two] = [await broken.open(), await broken.open()]
  const hold = await one.lock(NAME).acquire()
  await one.semaphore('s').trySetPermits(0)
  await one.countDownLatch('l').trySetCount(1)
  const ending = new AbortController()
  const { signal } = ending
  const waiting = [
    two.lock(NAME).acquire({ signal }),
    two.fairLock('f').acquire({ signal }),
    two.readWriteLock('r').read.acquire({ signal }),
    two.semaphore('s').acquire({ signal }),
    two.countDownLatch('l').wait({ signal }),
  ]
  const channels = async (): Promise<string[]> => (await broken.redis.pubsub('CHANNELS', '*')) as string[]
  await broken.until(async () => (await channels()).length >= 3)
  await sleep(1200)
  const read: number[] = []
  const decode = TextDecoder.prototype.decode
  broken.after(() => (TextDecoder.prototype.decode = decode))
  TextDecoder.prototype.decode = function (this: InstanceType<typeof TextDecoder>, ...args: Parameters<typeof decode>) {
    read.push((args[0] as Uint8Array | undefined)?.byteLength ?? 0)
    return decode.apply(this, args)
  }
  const flood = async (payload: Buffer | string, times: number): Promise<number> => {
    const before = await scriptsRun(broken)
    for (let n = 0; n < times; n++) {
      for (const channel of await channels()) await broken.redis.publish(channel, payload)
      await sleep(10)
    }
    return (await scriptsRun(broken)) - before
  }
  // All ask once in a second anyway.
  for (const payload of [Buffer.alloc(1_000_000, 0xff), '1 '.repeat(500_000), 'x'.repeat(1201)]) {
    const run = await flood(payload, 20)
    assert.ok(run <= 20, String(run))
    assert.deepEqual(
      read.filter((length) => length > 1200),
      [],
    )
  }
  assert.ok((await flood('x'.repeat(1200), 20)) > 20, 'what may be one of ours is heard')
  assert.ok(read.includes(1200))
  assert.equal(hold.state, 'held')
  ending.abort()
  await Promise.allSettled(waiting)
  await hold.release()
})

onServer(
  'a flood of messages longer than any of ours, to who waits for a flight or observes an election → nobody asks for them',
  async (broken) => {
    const [one, two] = [await broken.open(), await broken.open()]
    const ending = new AbortController()
    const { signal } = ending
    const finish: (() => void)[] = []
    const computing = one.flight('f').run('k', () => new Promise<void>((resolve) => finish.push(resolve)))
    await broken.until(() => Promise.resolve(finish.length === 1))
    const following = two.flight('f').run('k', { signal }, () => undefined)
    const leaders = two.election('e').observe({ signal })
    await leaders.next()
    const channels = async (): Promise<string[]> =>
      ((await broken.redis.pubsub('CHANNELS', '*')) as string[]).filter((name) =>
        /flight|\{?e\}?$|election|leader/.test(name),
      )
    await broken.until(async () => (await channels()).length === 2)
    await sleep(1200)
    const flood = async (payload: string): Promise<number> => {
      const before = await scriptsRun(broken)
      for (let n = 0; n < 20; n++) {
        for (const channel of await channels()) await broken.redis.publish(channel, payload)
        await sleep(10)
      }
      return (await scriptsRun(broken)) - before
    }
    const run = await flood('x'.repeat(50_000))
    assert.ok(run < 8, String(run))
    assert.ok((await flood('x'.repeat(1200))) >= 20, 'what may be one of ours is heard')
    finish[0]?.()
    await Promise.all([computing, following])
    await leaders.return?.()
  },
)

onServer(
  'fair lock behind one of Redisson’s: grants with the right proof, again and again → one script for each at most',
  async (broken) => {
    const client = await broken.open()
    const theirs = '9f1b2c3d-0a1b-4001-8001-0a1b2c3d4e5f:23'
    await broken.redis.hset(NAME, theirs, '1')
    await broken.redis.pexpire(NAME, 60_000)
    let started = false
    const waiting = client
      .fairLock(NAME)
      .acquire()
      .then((hold) => {
        started = true
        return hold.release()
      })
    // It listens where Redisson would call it, by its whole name.
    const called = async (): Promise<string> =>
      ((await broken.redis.pubsub('CHANNELS', `redisson_lock__channel:{${NAME}}:*`)) as string[])[0] ?? ''
    await broken.until(async () => (await called()) !== '')
    const owner = (await called()).slice(`redisson_lock__channel:{${NAME}}:`.length)
    await sleep(300)
    const [since, before] = [performance.now(), await scriptsRun(broken)]
    for (let n = 0; n < 40; n++) {
      await broken.redis.publish(`holdfast_grant:{${NAME}}:${client.id}`, grantTo(owner, microseconds()))
      await sleep(20)
    }
    await sleep(100)
    const [run, polls] = [(await scriptsRun(broken)) - before, Math.ceil((performance.now() - since) / 750)]
    assert.ok(run <= 40 + polls, `${run} scripts, ${polls} polls`)
    assert.equal(started, false)
    await broken.redis.del(NAME)
    assert.equal(await waiting, true)
  },
)
