import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { CallEvent, CallStep, HistoryEvent } from 'holdfast/testing'
import { checkHistory } from 'holdfast/testing'
import { Redis } from 'ioredis'
import { machineTime } from '../suites/soak/log.js'
import type { Order } from './fair-process.js'
import { assertNone } from './violations.js'

const PROGRAM = fileURLToPath(new URL('fair-process.js', import.meta.url))
const LONGEST = 40_000
const ENDS: ReadonlySet<CallStep> = new Set(['released', 'lost', 'refused', 'crashed'])

export interface MemberOptions {
  readonly url: string
  readonly watchdog?: number
  /** How far its wall clock is off, ms. */
  readonly off?: number
  /** Whether it waits for replicas. */
  readonly sync?: boolean
  /** Another build's. */
  readonly program?: string
}

/** A process that waits for the lock. */
export class Member {
  readonly name: string
  readonly #party: Party
  readonly #child
  readonly #ended

  constructor(
    party: Party,
    name: string,
    { url, watchdog = 1500, off = 0, sync = true, program = PROGRAM }: MemberOptions,
  ) {
    this.name = name
    this.#party = party
    const words = [name, url, String(watchdog), String(off), party.kind, party.lock, String(sync)]
    this.#child = spawn(process.execPath, ['--unhandled-rejections=strict', program, ...words], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#ended = once(this.#child, 'exit') as Promise<[number | null, string | null]>
    const kill = (): void => void this.#child.kill('SIGKILL')
    process.once('exit', kill)
    this.#child.once('exit', () => process.off('exit', kill))
  }

  async ready(): Promise<this> {
    await once(this.#child, 'message')
    this.#child.on('message', (event: CallEvent) => this.#party.heard(event))
    return this
  }

  order(order: Order): void {
    this.#child.send(order)
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
    this.#party.died(this.name)
  }

  /** It closes its client, and must end by itself then. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.order('end')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    const [code, signal] = await this.#ended
    clearTimeout(late)
    assert.deepEqual([code, signal], [0, null], `${this.name} did not end by itself`)
  }
}

/** Processes that wait in one line, and all that they told. */
export class Party {
  readonly events: HistoryEvent[] = []
  readonly redis: Redis
  readonly lock: string
  readonly kind: 'fairLock' | 'nonReentrantFairLock' | 'readWriteLock' | 'lock' | 'fencedLock'
  readonly members: Member[] = []
  readonly #url: string
  readonly #ended = new Set<string>()
  #calls = 0

  /** `server`: the one that has the line, where the url leads to several. */
  constructor(url: string, lock: string, kind: Party['kind'] = 'fairLock', server = url) {
    this.#url = url
    this.redis = new Redis(server, { retryStrategy: () => 50, maxRetriesPerRequest: null })
    this.redis.on('error', () => undefined)
    this.lock = lock
    this.kind = kind
  }

  async invite(name: string, options: Partial<MemberOptions> = {}): Promise<Member> {
    const member = new Member(this, name, { url: this.#url, ...options })
    this.members.push(member)
    return member.ready()
  }

  line(): Promise<string[]> {
    const queue = this.kind === 'readWriteLock' ? 'holdfast_rwlock_queue' : 'redisson_lock_queue'
    return this.redis.lrange(`${queue}:{${this.lock}}`, 0, -1)
  }

  /** It comes when the one before has been seen in the line. */
  async enqueue(member: Member, keep = false, shared = false): Promise<string> {
    const before = (await this.line()).length
    const call = this.acquire(member, keep, undefined, shared)
    await this.until(async () => (await this.line()).length === before + 1)
    const mode = shared ? ('shared' as const) : ('exclusive' as const)
    const seen = { at: machineTime(), what: 'queued' as const, process: member.name, call, name: this.lock, mode }
    this.events.push(seen)
    return call
  }

  acquire(member: Member, keep: boolean, lease?: number, shared = false): string {
    return this.#order(member, { keep, lease, shared })
  }

  #order(member: Member, how: Omit<Extract<Order, { readonly acquire: string }>, 'acquire'>): string {
    const call = `${member.name}/${(this.#calls += 1)}`
    member.order({ acquire: call, ...how })
    return call
  }

  /** It comes again and again, each time for so many ms, until told that it is `over`; resolves when it has left. */
  async visits(member: Member, stay: number, over: () => boolean): Promise<void> {
    while (!over()) {
      const call = this.#order(member, { keep: false, stay })
      await this.until(() => this.#ended.has(call))
    }
  }

  heard(event: CallEvent): void {
    this.events.push(event)
    if (ENDS.has(event.what)) this.#ended.add(event.call)
  }

  /** It holds the lock until it is told to release it. */
  async holds(member: Member, lease?: number, shared = false): Promise<string> {
    const call = this.acquire(member, true, lease, shared)
    await this.granted(call)
    return call
  }

  of(call: string, what: CallStep): CallEvent | undefined {
    return this.events.find(
      (event): event is CallEvent => 'call' in event && event.call === call && event.what === what,
    )
  }

  async granted(call: string, limit?: number): Promise<number> {
    await this.until(() => this.of(call, 'granted') !== undefined, limit)
    return this.of(call, 'granted')?.at ?? assert.fail()
  }

  /** The calls that were granted the lock, in order. */
  get order(): string[] {
    const granted = this.events.filter((event): event is CallEvent => event.what === 'granted')
    return granted.sort((a, b) => a.at - b.at).map(({ call }) => call)
  }

  /** Its process was in trouble since then. */
  troubled(process: string | undefined, since: number, note: string): void {
    this.events.push({ what: 'trouble', at: since, to: machineTime() + 2000, process, note })
  }

  died(process: string): void {
    for (const [call, of] of this.#open()) {
      if (of === process) this.events.push({ at: machineTime(), what: 'crashed', process, call, name: this.lock })
    }
  }

  /** Calls that have not ended, and whose each is. */
  #open(): ReadonlyMap<string, string> {
    const steps = this.events.filter((event): event is CallEvent => 'call' in event)
    const open = new Map(steps.map(({ call, process }) => [call, process]))
    for (const { call, what } of steps) if (ENDS.has(what)) open.delete(call)
    return open
  }

  async until(condition: () => Promise<boolean> | boolean, limit = LONGEST): Promise<void> {
    for (const end = machineTime() + limit; !(await condition()); await sleep(2)) {
      if (machineTime() > end) assert.fail(`not so within ${limit} ms: ${String(condition)}\n${this.#told()}`)
    }
  }

  #told(): string {
    const calls = this.events.filter((event): event is CallEvent => 'call' in event && event.what !== 'checked')
    return calls.map(({ at, what, call }) => `${at.toFixed(0)} ${call} ${what}`).join('\n')
  }

  /** All calls are over: no two were inside at once, nobody was overtaken, and nothing is left on the server. */
  async check(): Promise<void> {
    // Whoever has released it may be told so after the next has it.
    await this.until(() => this.#open().size === 0)
    await Promise.all(this.members.map((member) => member.end()))
    assertNone(checkHistory(this.events, { fair: true, noticedWithin: 3000 }))
    await this.until(async () => (await this.redis.dbsize()) === 0, 5000)
    assert.deepEqual(await this.redis.pubsub('CHANNELS', '*'), [])
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()))
    this.redis.disconnect()
  }
}
