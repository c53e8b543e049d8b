import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ClosedError, connect, EngineError } from 'holdfast'
import { parseUrl } from '#src/config/url.js'
import { systemClock } from '#src/base/clock.js'
import type { Driver } from '#src/engine/driver.js'
import { IoredisDriver } from '#src/engine/ioredis/driver.js'
import { Link } from '#src/engine/link.js'
import type { Script } from '#src/lua/script.js'
import { script } from '#src/lua/script.js'
import { anything, integer } from '#src/lua/reply-shape.js'
import { rejection } from '../suites/contract/lock/kind.js'
import { freePort } from '../support/redis-server.js'
import type { Broken } from '../support/server.js'
import { onServer } from '../support/server.js'
import type { Reply } from '#src/lua/values.js'

type Count = Script<readonly [counter: string], readonly [], number>

const TEXT = "return redis.call('INCR', KEYS[1])"
const COUNT: Count = script('test/count', createHash('sha1').update(TEXT).digest('hex'), TEXT, 1, integer)

interface Opened {
  readonly link: Link
  readonly events: string[]
}

const listener = (events: string[]): ConstructorParameters<typeof Link>[2] => ({
  message: ({ channel, payload }) => void events.push(`message ${channel} ${Buffer.from(payload).toString()}`),
  reconnected: () => void events.push('reconnected'),
  moved: () => undefined,
  gap: () => void events.push('gap'),
  unheard: (_kind, name) => void events.push(`unheard ${name}`),
  error: (error) => void events.push(`error ${error.message}`),
})

const within = async (limit: number, least: number, work: Promise<unknown>): Promise<void> => {
  const begun = performance.now()
  await work.catch(() => undefined)
  const took = performance.now() - begun
  assert.ok(took >= least && took <= limit, `took ${took} ms, not between ${least} and ${limit}`)
}

const failsWith = async (code: string, text: RegExp, work: Promise<unknown>): Promise<void> => {
  const error = await rejection(work)
  assert.ok(error instanceof EngineError, String(error))
  assert.equal(error.code, code, error.message)
  assert.match(error.message, text)
}

/** Opens links of one test and closes them after it. */
const withLinks = async (
  body: (open: (url: string, commandTimeout?: number) => Promise<Opened>) => Promise<void>,
): Promise<void> => {
  const links: Link[] = []
  try {
    await body(async (url, commandTimeout = 5000) => {
      const place = parseUrl(url)
      assert.ok(place.engine === 'redis')
      const driver = IoredisDriver.open(place.endpoint, {
        connectTimeout: 5000,
        commandTimeout: 5000,
        clock: systemClock,
      })
      const events: string[] = []
      const link = new Link(driver, { clock: systemClock, connectTimeout: 5000, commandTimeout }, listener(events))
      links.push(link)
      await link.open()
      return { link, events }
    })
  } finally {
    await Promise.all(links.map((link) => link.close()))
  }
}

/** How often the server was sent each command since the last time. */
const callsOf = async ({ redis }: Broken): Promise<(command: string) => number> => {
  const info = await redis.info('commandstats')
  await redis.config('RESETSTAT')
  return (command) => Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(info)?.[1] ?? 0)
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A driver of which each answer is told. */
const scripted = (answer: (argv: readonly unknown[]) => Promise<Reply>) => {
  const sent: string[] = []
  const driver: Writable<Driver> = {
    address: 'nowhere',
    cluster: false,
    isUp: true,
    open: () => Promise.resolve(),
    send(argv) {
      sent.push(String(argv[0]))
      return answer(argv)
    },
    subscribe: () => Promise.resolve(),
    unsubscribe: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  const link = new Link(driver, { clock: systemClock, connectTimeout: 1000, commandTimeout: 1000 }, listener([]))
  return { driver, link, sent }
}

void describe('what a driver tells', () => {
  test('an error with what was sent in it → the event has nothing of that', async () => {
    const { driver } = scripted(() => Promise.resolve('PONG'))
    let told: Parameters<Driver['open']>[0] | undefined
    driver.open = (events) => {
      told = events
      return Promise.resolve()
    }
    const events: string[] = []
    const link = new Link(driver, { clock: systemClock, connectTimeout: 1000, commandTimeout: 1000 }, listener(events))
    await link.open()
    told?.error(new Error("ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'bob' 's3cret'"))
    await link.close()
    assert.deepEqual(events, ["error nowhere: ERR unknown command 'HELLO'"])
  })

  test('it opens, and the first command is never answered → OFFLINE in time, and it is closed', async () => {
    const { driver, link } = scripted(() => new Promise(() => undefined))
    let closed = 0
    driver.close = () => Promise.resolve(void (closed += 1))
    await failsWith('OFFLINE', /cannot connect to nowhere: no answer within 1000 ms/, link.open())
    assert.equal(closed, 1)
  })

  test('a script was sent on to another node → the WAIT that counts goes there, too', async () => {
    const waits: (string | undefined)[] = []
    const { driver, link } = scripted(() => assert.fail('it is sent with options'))
    driver.cluster = true
    driver.nodeOf = () => 'old'
    driver.send = ([command], options) => {
      if (command !== 'WAIT') options?.redirected?.('new')
      else waits.push(options?.node)
      return Promise.resolve(command !== 'WAIT' || options?.node === 'new' ? 1 : 0)
    }
    const [reply, replicas] = await link.run(COUNT, ['n'], [], { wait: { replicas: 1, timeout: 100 } })
    assert.deepEqual([reply, await replicas], [1, 1])
    assert.deepEqual(waits, ['old', 'new'])
    await link.close()
  })
})

void describe('scripts by their SHA', () => {
  test('a server that never knows a script → EVALSHA, EVAL, and then the error: no third attempt', async () => {
    const { link, sent } = scripted(() => Promise.reject(new Error('NOSCRIPT No matching script.')))
    await failsWith('NOSCRIPT', /No matching script/, link.run(COUNT, ['n'], []))
    assert.deepEqual(sent, ['EVALSHA', 'EVAL'])
    await link.close()
  })

  test('any other error of the server → told as it is, the script is not sent again', async () => {
    const { link, sent } = scripted(() => Promise.reject(new Error('READONLY No writes here.')))
    await failsWith('READONLY', /No writes here/, link.run(COUNT, ['n'], []))
    assert.deepEqual(sent, ['EVALSHA'])
    await link.close()
  })

  test('an answer that has NOSCRIPT in its text, not as its first word → not taken for one', async () => {
    const { link, sent } = scripted(() => Promise.reject(new Error('ERR what a NOSCRIPT is')))
    await failsWith('SERVER', /what a NOSCRIPT is/, link.run(COUNT, ['n'], []))
    assert.deepEqual(sent, ['EVALSHA'])
    await link.close()
  })

  onServer('a script unknown to the server → its text once, its SHA from then on, each run done once', (broken) =>
    withLinks(async (open) => {
      const { link } = await open(broken.server.url)
      await broken.redis.config('RESETSTAT')
      for (let run = 1; run <= 5; run += 1) assert.equal(await link.run(COUNT, ['n'], []), run)
      const calls = await callsOf(broken)
      assert.deepEqual([calls('evalsha'), calls('eval')], [5, 1])
    }),
  )

  onServer(
    'SCRIPT FLUSH before a pipeline of 100 runs among 100 commands → all done once, replies in place',
    (broken) =>
      withLinks(async (open) => {
        const { link } = await open(broken.server.url)
        await link.run(COUNT, ['warm'], [])
        await broken.redis.script('FLUSH')
        await broken.redis.config('RESETSTAT')
        const runs: Promise<number>[] = []
        const commands: Promise<Reply>[] = []
        for (let i = 0; i < 100; i += 1) {
          runs.push(link.run(COUNT, [i % 2 === 0 ? 'even' : 'odd'], []))
          commands.push(link.command(['ECHO', `e${i}`], anything))
        }
        const counted = await Promise.all(runs)
        const half = Array.from({ length: 50 }, (_, i) => i + 1)
        for (const parity of [0, 1])
          assert.deepEqual(
            counted.filter((_, i) => i % 2 === parity).sort((a, b) => a - b),
            half,
          )
        assert.deepEqual(
          await Promise.all(commands),
          Array.from({ length: 100 }, (_, i) => `e${i}`),
        )
        const calls = await callsOf(broken)
        assert.equal(calls('evalsha'), 100)
        assert.ok(calls('eval') >= 1 && calls('eval') <= 100, `${calls('eval')} EVALs`)
        assert.equal(await link.run(COUNT, ['even'], []), 51)
        const later = await callsOf(broken)
        assert.deepEqual([later('evalsha'), later('eval')], [1, 0])
      }),
  )

  onServer('SCRIPT FLUSH all the while 400 runs are on their way → every one is done exactly once', (broken) =>
    withLinks(async (open) => {
      const { link } = await open(broken.server.url)
      let over = false
      const flushing = (async () => {
        while (!over) await broken.redis.script('FLUSH')
      })()
      const counted: number[] = []
      for (let round = 0; round < 4; round += 1) {
        counted.push(...(await Promise.all(Array.from({ length: 100 }, () => link.run(COUNT, ['n'], [])))))
      }
      over = true
      await flushing
      assert.deepEqual(
        counted.sort((a, b) => a - b),
        Array.from({ length: 400 }, (_, i) => i + 1),
      )
    }),
  )
})

void describe('a trailing WAIT', () => {
  onServer('no replica → the reply and 0, at once when none is asked for, after the time-out when one is', (broken) =>
    withLinks(async (open) => {
      const { link } = await open(broken.server.url)
      const [count, none] = await link.run(COUNT, ['n'], [], { wait: { replicas: 0, timeout: 60_000 } })
      assert.deepEqual([count, await none], [1, 0])
      const run = link.run(COUNT, ['n'], [], { wait: { replicas: 1, timeout: 200 } })
      const behind = run.then(([, reached]) => reached)
      await within(2500, 180, behind)
      assert.deepEqual([(await run)[0], await behind], [2, 0])
    }),
  )

  onServer('20 runs at once, the script unknown → the first has a WAIT behind it, the others share a few', (broken) =>
    withLinks(async (open) => {
      const { link } = await open(broken.server.url)
      const monitor = await broken.redis.monitor()
      const seen: string[] = []
      monitor.on('monitor', (_time: string, [name = '']: string[]) => {
        const command = name.toLowerCase()
        if (['evalsha', 'eval', 'wait'].includes(command)) seen.push(command)
      })
      try {
        const wait = { replicas: 0, timeout: 1000 }
        const replies = await Promise.all(Array.from({ length: 20 }, () => link.run(COUNT, ['n'], [], { wait })))
        assert.deepEqual(
          replies.map(([count]) => count).sort((a, b) => a - b),
          Array.from({ length: 20 }, (_, i) => i + 1),
        )
        assert.deepEqual(new Set(await Promise.all(replies.map(([, reached]) => reached))), new Set([0]))
        await broken.until(() => seen.filter((command) => command === 'eval').length === 20 && seen.at(-1) === 'wait')
        assert.deepEqual(seen.slice(0, 2), ['evalsha', 'wait'], seen.join(' '))
        const waits = seen.filter((command) => command === 'wait').length
        assert.ok(waits >= 3 && waits <= 6, seen.join(' '))
      } finally {
        monitor.disconnect()
      }
    }),
  )
})

void describe('replies that do not come', { concurrency: 4 }, () => {
  onServer('no reply within commandTimeout → NO_REPLY in time, and no later one is waited for longer', (broken) =>
    withLinks(async (open) => {
      const { link } = await open(broken.proxy.url, 500)
      broken.proxy.mute = true
      const first = link.command(['INCR', 'n'], anything)
      const timed = within(2500, 480, first)
      await sleep(250)
      const second = link.command(['INCR', 'n'], anything)
      await Promise.all([
        timed,
        within(2500, 480, second),
        failsWith('NO_REPLY', /no reply from redis:\/\/127\.0\.0\.1:\d+ within 500 ms/, first),
        failsWith('NO_REPLY', /within 500 ms/, second),
      ])
      assert.equal(await broken.redis.get('n'), '2', 'they were sent, and once')
    }),
  )

  onServer('a reply that comes too late → ignored; the next command gets its own', (broken) =>
    withLinks(async (open) => {
      const { link, events } = await open(broken.proxy.url, 300)
      broken.proxy.delay = 900
      await failsWith('NO_REPLY', /within 300 ms/, link.command(['ECHO', 'late'], anything))
      await sleep(1000)
      broken.proxy.delay = 0
      assert.equal(await link.command(['ECHO', 'next'], anything), 'next')
      assert.equal(await link.run(COUNT, ['n'], []), 1)
      assert.deepEqual(events, [])
    }),
  )

  onServer('the connection cut in mid-command → NO_REPLY at once, nothing is sent twice', (broken) =>
    withLinks(async (open) => {
      const { link, events } = await open(broken.proxy.url, 30_000)
      broken.proxy.mute = true
      const calls = Array.from({ length: 10 }, () => link.command(['INCR', 'n'], anything))
      await broken.until(async () => (await broken.redis.get('n')) === '10')
      const settled = within(2500, 0, Promise.allSettled(calls))
      broken.proxy.cut()
      broken.proxy.mute = false
      await settled
      for (const call of calls) await failsWith('NO_REPLY', /no reply from .* \(the connection was cut\)/, call)
      assert.equal(await link.command(['INCR', 'n'], anything), 11)
      assert.deepEqual(
        events.filter((event) => !event.startsWith('error')),
        ['reconnected'],
      )
    }),
  )

  onServer('closed → what was sent rejects with ClosedError at once, and so does what comes after', (broken) =>
    withLinks(async (open) => {
      const { link } = await open(broken.proxy.url, 30_000)
      broken.proxy.mute = true
      const calls = [link.command(['INCR', 'n'], anything), link.run(COUNT, ['n'], []), link.subscribe('c', 'plain')]
      const settled = within(1000, 0, Promise.allSettled(calls))
      await link.close()
      await settled
      for (const call of calls) assert.ok((await rejection(call)) instanceof ClosedError)
      assert.ok((await rejection(link.command(['PING'], anything))) instanceof ClosedError)
      assert.ok((await rejection(link.run(COUNT, ['n'], []))) instanceof ClosedError)
      await link.close()
    }),
  )
})

void describe('a server that is away', { concurrency: 3 }, () => {
  onServer('away for longer than commandTimeout → OFFLINE, and never sent', (broken) =>
    withLinks(async (open) => {
      const { link } = await open(broken.server.url, 400)
      await broken.server.stop()
      await broken.until(() => !link.isUp)
      const call = link.run(COUNT, ['n'], [])
      await within(2500, 380, call)
      await failsWith('OFFLINE', /not connected to redis:\/\/127\.0\.0\.1:\d+$/, call)
      await broken.restart()
      await broken.until(() => link.isUp)
      assert.equal(await broken.redis.get('n'), null)
      assert.equal(await link.run(COUNT, ['n'], []), 1)
    }),
  )

  onServer('back within commandTimeout → the calls go out then, in order and once', (broken) =>
    withLinks(async (open) => {
      const { link, events } = await open(broken.server.url, 30_000)
      await broken.server.stop()
      await broken.until(() => !link.isUp)
      const calls = Array.from({ length: 50 }, () => link.command(['INCR', 'n'], anything))
      await broken.restart()
      assert.deepEqual(
        await Promise.all(calls),
        Array.from({ length: 50 }, (_, i) => i + 1),
      )
      assert.equal(await broken.redis.get('n'), '50')
      assert.equal(events.filter((event) => event === 'reconnected').length, 1)
    }),
  )

  onServer('closed while away → the calls that wait reject with ClosedError at once', (broken) =>
    withLinks(async (open) => {
      const { link } = await open(broken.server.url, 30_000)
      await broken.server.stop()
      await broken.until(() => !link.isUp)
      const calls = [link.command(['PING'], anything), link.run(COUNT, ['n'], [])]
      const settled = within(1000, 0, Promise.allSettled(calls))
      await link.close()
      await settled
      for (const call of calls) assert.ok((await rejection(call)) instanceof ClosedError)
      await broken.restart()
    }),
  )
})

void describe('connect', { concurrency: 4 }, () => {
  const cannot = (address: string): RegExp => new RegExp(`^cannot connect to ${address.replaceAll(/[.+]/g, '\\$&')}`)

  /** Accepts, and does with the connection what it is told to. */
  const withHost = async (
    welcome: (socket: Socket) => void,
    body: (port: number, connections: () => number) => Promise<void>,
  ): Promise<void> => {
    const sockets = new Set<Socket>()
    const host = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
      welcome(socket)
    }).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const address = host.address()
    assert.ok(address !== null && typeof address !== 'string')
    try {
      await body(address.port, () => sockets.size)
    } finally {
      host.close()
      for (const socket of sockets) socket.destroy()
    }
  }

  const connecting = async (url: string, least: number): Promise<void> => {
    const client = connect({ url, connectTimeout: 1000 })
    client.then((opened) => opened.close()).catch(() => undefined)
    await within(3000, least, client)
    await failsWith('OFFLINE', cannot(url), client)
  }

  for (const scheme of ['redis', 'redis+cluster']) {
    test(`nobody listens at a ${scheme} URL → an EngineError that names the address, within connectTimeout`, async () => {
      await connecting(`${scheme}://127.0.0.1:${await freePort()}`, 0)
    })

    test(`a host at a ${scheme} URL accepts and never answers → the same, and the connection is ended`, async () => {
      const ignore = (socket: Socket): void => void socket.resume()
      await withHost(ignore, async (port, connections) => {
        await connecting(`${scheme}://127.0.0.1:${port}`, 900)
        for (const end = performance.now() + 5000; connections() > 0; await sleep(20)) {
          assert.ok(performance.now() < end, 'a connection is left')
        }
      })
    })

    test(`a host at a ${scheme} URL hangs up at once → the same`, async () => {
      const hangUp = (socket: Socket): void => void socket.destroy()
      await withHost(hangUp, async (port) => {
        await connecting(`${scheme}://127.0.0.1:${port}`, 0)
      })
    })
  }

  test('no socket at a redis+unix path → the same, with the path', async () => {
    await connecting('redis+unix:///nowhere/redis.sock', 0)
  })
})
