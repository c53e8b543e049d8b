import { NEWEST, isBuilt } from '../../test/suites/interop/support/build.js'
import { now } from '../../test/suites/interop/support/java-process.js'
import { type Redisson, startRedisson } from '../../test/suites/interop/support/redisson.js'
import { PATIENCE, PATIENCE_AT_END, type Load, type Sample, type Slot } from '../base/load.js'
import type { Member, Participant } from './participant.js'

/** It has no fair read-write lock, and is never asked for one. */
const KINDS = {
  lock: 'plain',
  fairLock: 'fair',
  semaphore: 'semaphore',
  readLock: 'read',
  fencedLock: 'fenced',
  writeLock: 'write',
  fairWriteLock: 'write',
  limiter: 'limiter',
} as const

type JavaSample = Omit<Sample, 'waits' | 'stays'> & Record<'waits' | 'stays', readonly number[]>

/** One Java process with one client; each caller is a thread, as Redisson takes threads for owners. */
class JavaMember implements Member {
  readonly #redisson: Redisson
  readonly #url: string
  readonly #load: Load
  readonly #names: readonly string[]

  constructor(redisson: Redisson, url: string, load: Load, names: readonly string[]) {
    this.#redisson = redisson
    this.#url = url
    this.#load = load
    this.#names = names
  }

  async ask(message: Slot | 'probe', limit = PATIENCE): Promise<unknown> {
    let late = false
    const alarm = setTimeout(() => {
      late = true
      void this.kill()
    }, limit)
    try {
      return message === 'probe' ? await this.#excludes() : await this.#work(message)
    } catch (error) {
      throw late ? new Error('does not come to an end') : error
    } finally {
      clearTimeout(alarm)
    }
  }

  async #excludes(): Promise<boolean> {
    const other = await this.#redisson.another({ url: this.#url })
    if (this.#load.kind === 'semaphore') return this.#full(other)
    // It keeps nobody out.
    if (this.#load.kind === 'limiter') return other.shutdown().then(() => true)
    const [mine, its] = [this.#redisson, other].map((one) =>
      one.lock(KINDS[this.#load.kind], `${this.#names[0]}:probe`),
    )
    await mine!.lock(1)
    const taken = await its!.tryLock(1)
    await mine!.unlock(1)
    await other.shutdown()
    return !taken
  }

  /** Nobody comes in where all places are taken. */
  async #full(other: Redisson): Promise<boolean> {
    const places = this.#load.places ?? 1
    const [mine, its] = [this.#redisson, other].map((one) => one.lock('semaphore', `${this.#names[0]}:probe`))
    await mine!.call('trySetPermits', [places])
    await mine!.call('acquireAsync', [places])
    const taken = await its!.call<boolean>('tryAcquireAsync', [])
    await mine!.call('releaseAsync', [places])
    await other.shutdown()
    return !taken
  }

  async #work({
    startAt,
    warm,
    seconds,
    holdMs = this.#load.holdMs,
    patience = PATIENCE_AT_END,
  }: Slot): Promise<Sample> {
    const { kind, callers, endless, places = 1, reads } = this.#load
    const { waits, stays, ...counts } = await this.#redisson.request<JavaSample>({
      ...{ op: 'bench', kind: KINDS[kind], names: this.#names, callers, hold: holdMs, warm, seconds, places, reads },
      ...{ startAt: now() + startAt - Date.now(), drains: endless !== true, patience },
    })
    return { ...counts, waits: Float64Array.from(waits), stays: Float64Array.from(stays) }
  }

  async end(): Promise<void> {
    await this.#redisson.kill()
  }

  kill(): Promise<void> {
    return this.#redisson.kill()
  }
}

/**
 * Each waiter of a fair lock has a channel of its own, and by default a client has no more than 250; where many come at
 * once the last of them subscribes later than the 7.5 s that it gives itself.
 */
const optionsOf = ({ callers }: Load): Record<string, unknown> => ({
  subscriptionsPerConnection: Math.max(5, callers),
  subscriptionTimeout: 120_000,
})

export const redisson: Participant = {
  name: 'Redisson',
  family: 'redisson',
  file: 'bench/participants/redisson.ts',
  setup:
    `Redisson ${NEWEST} in Java, one client in each process, one thread for each caller; defaults, but ` +
    'subscriptionsPerConnection as many as callers, a subscriptionTimeout of two minutes, and one idle connection',
  kinds: ['lock', 'fairLock', 'fencedLock', 'semaphore', 'readLock', 'writeLock', 'limiter'],
  waits: true,
  memory: false,
  renews: true,
  keyOf: (name) => name,
  // The DEL that it sends after each release is not counted: its script calls one too.
  direct: [],
  missing: 'no java',
  version: () => (isBuilt(NEWEST) ? NEWEST : undefined),
  start: async (url, load, names) =>
    new JavaMember(await startRedisson({ url, options: optionsOf(load) }), url, load, names),
  open: () => {
    throw new Error('its processes are none of Node')
  },
}
