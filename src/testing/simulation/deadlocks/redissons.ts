import type { SimProcess } from '../sim-process.js'
import type { Scene } from '../verdict.js'
import type { Step } from '../worker-program.js'

/** Redisson's lease, ms. */
const LEASE = 30_000
/** It tries again after so long, ms. */
const RETRIES = 50
const CLIENT = '5d3a1c5e-0f0e-4f6b-9a2e-7b1c5a9d0c11'
/** Its thread ids: with one of them, an owner looks like one of holdfast. */
const THREADS = ['71', '3000000001']

/** Threads of a Redisson that hold locks. They publish nothing about what they wait for, so no deadlock may be reported through them. */
export class Redissons {
  readonly #scene: Scene
  #count = 0

  constructor(scene: Scene) {
    this.#scene = scene
  }

  /** Acquires the lock, works, and releases it. Its time limit is that of the step. */
  async use(process: SimProcess, { name, work, wait = 0 }: Step): Promise<void> {
    const { redis } = this.#scene.server
    const thread = `${CLIENT}:${THREADS[this.#count++ % THREADS.length]}`
    const until = process.machine.time + wait
    while (redis.execute(['EXISTS', name]) !== 0) {
      if (process.machine.time > until) return
      await process.sleep(RETRIES)
    }
    redis.execute(['HSET', name, thread, '1'])
    redis.execute(['PEXPIRE', name, String(LEASE)])
    this.#scene.note('thread', `${thread} holds ${name}`)
    this.#scene.world.in(work, () => this.#release(name, thread))
    await process.sleep(work)
  }

  #release(name: string, thread: string): void {
    const { redis } = this.#scene.server
    if (redis.execute(['HDEL', name, thread]) !== 1) return
    redis.execute(['PUBLISH', `redisson_lock__channel:{${name}}`, '0'])
    this.#scene.note('thread', `${thread} releases ${name}`)
  }
}
