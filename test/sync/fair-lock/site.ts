import { type AcquireOptions, type Hold } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import type { Client } from 'holdfast'
import { settle } from '#src/config/settings.js'
import { decode, MemoryDriver } from '#src/engine/memory/driver.js'
import { toBytes } from '#src/engine/memory/reply.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { type Script } from '#src/lua/script.js'
import { redissonAcquire, redissonUnlock } from '#src/testing/simulation/redisson/scripts.gen.js'
import type { Arg } from '#src/lua/values.js'

export const TRIAL = 3000
export const ALLOWANCE = 300_000
export const QUEUE = 'redisson_lock_queue:{a}'
export const DEADLINES = 'redisson_lock_timeout:{a}'
export const CHANNEL = 'redisson_lock__channel:{a}'
export const GRANTS = 'holdfast_grant:{a}'
export const KEYS = ['a', QUEUE, DEADLINES]
export const VOICES = [CHANNEL, GRANTS, 'PUBLISH']
/** Redisson's, holding `a` from the beginning. */
export const HOLDER = '22222222-2222-4222-8222-222222222222:1'
export const REDISSONS = '22222222-2222-4222-8222-222222222222:2'
/** Of a client that is dead, or no more than written down. */
export const OURS = '11111111-1111-8111-8111-111111111111'
/** So long nobody polls, and everything that is on its way arrives. */
export const AT_ONCE = 20

/** A server, clients of ours, and Redisson's scripts, by one clock. */
export class Site {
  readonly clock = virtualClock(7)
  readonly redis = new MemoryServer(this.clock)

  constructor() {
    this.run('HSET', 'a', HOLDER, '1')
    this.run('PEXPIRE', 'a', '60000')
  }

  run(...argv: readonly Arg[]): unknown {
    return decode(this.redis.execute(argv.map(toBytes)), false)
  }

  eval(script: Script, ...args: readonly Arg[]): unknown {
    return this.run('EVAL', script.text, 3, ...KEYS, ...args)
  }

  client(driver = new MemoryDriver(this.redis, undefined), fairWaiterTimeout = ALLOWANCE): Promise<Client> {
    return start(settle({ url: 'memory:', clock: this.clock, commandTimeout: 1000, fairWaiterTimeout }, {}), driver)
  }

  /** Somebody hears what is told there, and does nothing about it. */
  hears(channel: string): string[] {
    const heard: string[] = []
    const message = (_: string, payload: string): number => heard.push(payload)
    this.redis.pubsub.subscribe({ message }, toBytes(channel), 'plain')
    return heard
  }

  /** The first one’s hold is renewed all the while. */
  async held(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 30_000) {
      this.run('PEXPIRE', 'a', '60000')
      await this.clock.advance(30_000)
    }
  }

  /** Joins the line; when the lock is had, says so. */
  async waits(client: Client, options: AcquireOptions = {}): Promise<{ has: boolean; hold?: Hold }> {
    const places = (): number => this.line().filter((owner) => owner.startsWith(client.id)).length
    const before = places()
    const waiter: { has: boolean; hold?: Hold } = { has: false }
    client
      .fairLock('a')
      .acquire(options)
      .then((hold) => Object.assign(waiter, { has: true, hold }))
      .catch(() => undefined)
    while (places() === before) await this.clock.advance(1)
    return waiter
  }

  line(): string[] {
    return this.run('LRANGE', QUEUE, 0, -1) as string[]
  }

  deadline(owner: string): number {
    return Number(this.run('ZSCORE', DEADLINES, owner))
  }

  /** Stands in the line, whatever became of its client. */
  stands(owner: string, deadline = this.clock.now() + ALLOWANCE): void {
    this.run('RPUSH', QUEUE, owner)
    this.run('ZADD', DEADLINES, deadline, owner)
  }

  redissonUnlocks(owner: string): void {
    const keys = [...KEYS, CHANNEL, 'redisson_unlock_latch:{a}:1']
    this.run('EVAL', redissonUnlock.text, 5, ...keys, '0', 30_000, owner, this.clock.now(), 'PUBLISH', 18_000)
    this.run('DEL', 'redisson_unlock_latch:{a}:1')
  }

  redissonAsks(owner: string, allowance: number): unknown {
    return this.eval(redissonAcquire, 30_000, owner, allowance, this.clock.now())
  }
}
