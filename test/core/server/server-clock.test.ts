import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VirtualClock } from 'holdfast/testing'
import { virtualClock } from 'holdfast/testing'
import type { Client } from 'holdfast'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import type { Clock } from '#src/base/clock.js'
import type { Driver, DriverEvents, Message, SendOptions } from '#src/engine/driver.js'
import { NotSent } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { watch } from '../../suites/contract/lock/kind.js'
import { grantTo } from '../../support/grant.js'
import type { Arg, Reply } from '#src/lua/values.js'

const TRIAL = 3000
const OFF = 60_000
/** A client of ours: whoever waits behind it has a name that nobody can read. */
const OURS = '00000000-0000-8100-8000-000000000000:1234567891'

/** A server whose wall clock is off. */
class Server {
  readonly #clock: Clock
  readonly redis: MemoryServer

  constructor(clock: VirtualClock, off: number) {
    this.#clock = {
      now: () => clock.now() + off,
      monotonic: () => clock.monotonic(),
      setTimer: (callback, ms) => clock.setTimer(callback, ms),
      random: () => clock.random(),
      randomBytes: (count) => clock.randomBytes(count),
    }
    this.redis = new MemoryServer(this.#clock)
  }

  run(...argv: string[]): unknown {
    return this.redis.execute(argv)
  }

  /** Somebody frees the lock, and the next in the line is granted it. */
  grants(name: string, owner: string, client: string): string {
    this.run('DEL', name)
    this.run('HSET', name, owner, '1')
    this.run('PEXPIRE', name, String(TRIAL))
    const stamp = `${this.#clock.now()}000`
    return this.run('PUBLISH', `holdfast_grant:{${name}}:${client}`, grantTo(owner, stamp)) === 1
      ? owner
      : assert.fail('nobody heard')
  }
}

/** Two connections, each of which may lead to another server after it was cut; a cluster's lead to one for each key. */
class Moving implements Driver {
  readonly address = 'two servers'
  readonly cluster: boolean
  readonly #route: (key: string) => MemoryDriver
  readonly #told: DriverEvents[] = []
  isUp = true
  /** Messages are kept back: they are in a buffer that nobody has read. */
  kept: (() => void)[] | undefined
  commands: MemoryDriver
  messages: MemoryDriver
  readonly #channels = new Set<string>()

  constructor(first: MemoryDriver, byKey?: (key: string) => MemoryDriver) {
    this.commands = this.messages = first
    this.cluster = byKey !== undefined
    this.#route = byKey ?? (() => this.commands)
  }

  get #events(): DriverEvents {
    return this.#told[0] ?? assert.fail('not open')
  }

  async open(events: DriverEvents): Promise<void> {
    this.#told.push(events)
    events.up(false)
  }

  /** Its messages come here as long as it is where the messages come from. */
  async listenTo(server: MemoryDriver): Promise<void> {
    const none = (): void => undefined
    const message = (told: Message): void => {
      const hear = (): void => this.#events.message(told)
      if (this.kept === undefined) hear()
      else this.kept.push(hear)
    }
    await server.open({
      message,
      up: none,
      down: none,
      moved: none,
      outOfStep: none,
      gap: none,
      unheard: none,
      error: none,
    })
  }

  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('away'))
    return this.#route(options?.route ?? '').send(argv, options)
  }

  async subscribe(channel: string): Promise<void> {
    this.#channels.add(channel)
    await (this.cluster ? this.#route(channel) : this.messages).subscribe(channel, 'plain')
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#channels.delete(channel)
    await (this.cluster ? this.#route(channel) : this.messages).unsubscribe(channel, 'plain')
  }

  async moveMessages(to: MemoryDriver): Promise<void> {
    for (const channel of this.#channels) await this.messages.unsubscribe(channel, 'plain')
    this.messages = to
    for (const channel of this.#channels) await to.subscribe(channel, 'plain')
    this.#events.gap()
  }

  loseCommands(): void {
    this.isUp = false
    this.#events.down(new Error('cut'))
  }

  moveCommands(to: MemoryDriver): void {
    this.commands = to
    this.isUp = true
    this.#events.up(true)
  }

  async close(): Promise<void> {
    await Promise.all([this.commands.close(), this.messages.close()])
  }
}

/** Two servers, the clock of the second is off, and a client that waits for what another holds. */
const twoServers = async (off: number) => {
  const clock = virtualClock(1)
  const servers = [new Server(clock, 0), new Server(clock, off)] as const
  const [first, second] = servers.map(({ redis }) => new MemoryDriver(redis, undefined)) as [MemoryDriver, MemoryDriver]
  return { clock, servers, first, second }
}

const open = async (clock: VirtualClock, driver: Driver): Promise<Client> =>
  start(settle({ url: 'memory:', clock, presence: false }, {}), driver)

const heldByAnother = ({ redis }: Server, name: string): void => {
  redis.execute(['HSET', name, OURS, '1'])
  redis.execute(['PEXPIRE', name, '60000'])
}

const inLine = ({ redis }: Server, name: string): string[] =>
  redis.execute(['LRANGE', `redisson_lock_queue:{${name}}`, '0', '-1']) as string[]

void describe('fair-lock: freshness across servers', () => {
  for (const off of [OFF, -OFF]) {
    test(`messages come from the next server, ${off / 1000} s off, commands still fail → confirmed before it begins`, async () => {
      const { clock, servers, first, second } = await twoServers(off)
      const driver = new Moving(first)
      await Promise.all([driver.listenTo(first), driver.listenTo(second)])
      const client = await open(clock, driver)
      heldByAnother(servers[0], 'a')
      const waiting = watch(client.fairLock('a').acquire())
      await clock.advance(500)
      const [owner = ''] = inLine(servers[0], 'a')
      driver.loseCommands()
      await driver.moveMessages(second)
      await clock.advance(100)
      servers[1].grants('a', owner, client.id)
      await clock.advance(TRIAL - 500)
      assert.equal(waiting.settled, false, 'the server may have given it to another')
      driver.moveCommands(second)
      await clock.advance(TRIAL)
      const hold = await waiting.promise
      assert.equal(await hold.release(), true)
      await client.close()
      assert.equal(servers[1].run('DBSIZE'), 0)
    })
  }

  test('the clock of the same connection’s server jumps ahead → the grant is confirmed first', async () => {
    const { clock, servers, first, second } = await twoServers(OFF)
    const driver = new Moving(first)
    await Promise.all([driver.listenTo(first), driver.listenTo(second)])
    const client = await open(clock, driver)
    heldByAnother(servers[0], 'a')
    const waiting = watch(client.fairLock('a').acquire())
    await clock.advance(500)
    const [owner = ''] = inLine(servers[0], 'a')
    driver.loseCommands()
    // As if from the server that it knows.
    await second.subscribe(`holdfast_grant:{a}:${client.id}`, 'plain')
    servers[1].grants('a', owner, client.id)
    await clock.advance(100)
    assert.equal(waiting.settled, false)
    await second.unsubscribe(`holdfast_grant:{a}:${client.id}`, 'plain')
    driver.moveCommands(first)
    servers[0].run('DEL', 'a')
    await clock.advance(2000)
    assert.equal(await (await waiting.promise).release(), true)
    await client.close()
  })

  test('a cluster of nodes whose clocks differ: a grant read late → judged by its own node’s clock', async () => {
    const { clock, servers, first, second } = await twoServers(OFF)
    const byKey = (key: string): MemoryDriver => (key.includes('b') ? second : first)
    const driver = new Moving(first, byKey)
    await Promise.all([driver.listenTo(first), driver.listenTo(second)])
    const client = await open(clock, driver)
    const [there, here] = ['b', 'a'] as const
    heldByAnother(servers[1], there)
    heldByAnother(servers[0], here)
    const waiting = watch(client.fairLock(there).acquire())
    await clock.advance(300)
    const other = watch(client.fairLock(here).acquire())
    await clock.advance(100)
    const [owner = ''] = inLine(servers[1], there)
    const late: (() => void)[] = (driver.kept = [])
    servers[1].grants(there, owner, client.id)
    await clock.advance(1)
    assert.equal(late.length, 1)
    // The machine is suspended; on waking it reads what came before that.
    clock.stepWall(TRIAL + 2000)
    servers[1].run('DEL', there)
    heldByAnother(servers[1], there)
    driver.kept = undefined
    for (const hear of late) hear()
    assert.equal(waiting.settled, false)
    await clock.advance(0)
    assert.equal(waiting.settled, false, 'another has it by now')
    for (const [server, name] of [
      [servers[0], here],
      [servers[1], there],
    ] as const)
      server.run('DEL', name)
    await clock.advance(3000)
    for (const { promise } of [waiting, other]) assert.equal(await (await promise).release(), true)
    await client.close()
    for (const server of servers) assert.equal(server.run('DBSIZE'), 0)
  })
})
