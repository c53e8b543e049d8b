import { type Redisson, now, startRedisson } from '../../test/suites/interop/support/redisson.js'
import { Child } from './child.js'
import type { QueueMessage } from './queue-process.js'

/** One process that has a fair lock, or waits for it. Times are µs of the machine's clock. */
export interface Party {
  take(): Promise<unknown>
  /** So many waiters more. */
  wait(times: number): Promise<unknown>
  /** From when on. */
  free(): Promise<number>
  /** When a waiter acquires it. */
  had(): Promise<number>
  /** How many of those who waited have had it. */
  entered(): Promise<number>
  kill(): Promise<void>
  stop(): void
  cont(): void
}

export type OpenParty = (url: string, key: string) => Promise<Party>

export const nodeParty =
  (participant: string): OpenParty =>
  async (url, key) => {
    const child = await Child.open('queue-process.js', [participant, url, key])
    const ask = (message: QueueMessage | number): Promise<number> => child.ask(message) as Promise<number>
    return {
      take: () => ask('take'),
      wait: ask,
      free: () => ask('free'),
      had: () => ask('had'),
      entered: () => ask('entered'),
      kill: () => child.kill(),
      stop: () => {
        child.stop()
      },
      cont: () => {
        child.cont()
      },
    }
  }

class JavaParty implements Party {
  readonly #redisson: Redisson
  readonly #key: string
  readonly #waiting: Promise<number>[] = []
  #entered = 0

  constructor(redisson: Redisson, key: string) {
    this.#redisson = redisson
    this.#key = key
  }

  take(): Promise<unknown> {
    return this.#redisson.fair(this.#key).lock(1)
  }

  wait(times: number): Promise<unknown> {
    for (let time = 0; time < times; time++) this.#wait()
    return Promise.resolve()
  }

  #wait(): void {
    const call = this.#redisson.fair(this.#key).lock(2 + this.#waiting.length)
    const had = call.times().then(({ end }) => {
      this.#entered++
      return end * 1000
    })
    // It is killed while it waits.
    had.catch(() => undefined)
    call.catch(() => undefined)
    this.#waiting.push(had)
  }

  async free(): Promise<number> {
    const at = now() * 1000
    await this.#redisson.fair(this.#key).unlock(1)
    return at
  }

  had(): Promise<number> {
    return Promise.race(this.#waiting)
  }

  async entered(): Promise<number> {
    return this.#entered
  }

  kill(): Promise<void> {
    return this.#redisson.kill()
  }

  stop(): void {
    this.#redisson.stop()
  }

  cont(): void {
    this.#redisson.cont()
  }
}

export const javaParty =
  (options: Readonly<Record<string, number>>): OpenParty =>
  async (url, key) =>
    new JavaParty(await startRedisson({ url, options }), key)
