import { NoReply } from '../../../engine/driver.js'
import type { ArgsOf, KeysOf, ReplyOf, Script } from '../../../lua/script.js'
import type { Machine } from '../machine.js'
import type { SimDriver } from '../network.js'
import type { Party } from '../party.js'
import { type RedissonPlan, SKEW } from './plan.js'
import { redissonRenew } from './scripts.gen.js'
import { type StrangersHold, Thread, type ThreadHost, type Witness } from './thread.js'

/** What our scripts give each waiter, ms. */
const ALLOWANCE = 300_000

/**
 * One process with Redisson in it, as the fair lock sees it: owner ids of version 4, its scripts in its order, its own
 * wall clock in every deadline, a channel for each waiting thread, and a watchdog. It trusts its leases and looks at nothing.
 */
export class Redisson implements Party, ThreadHost {
  readonly plan: RedissonPlan
  readonly machine: Machine
  readonly driver: SimDriver
  readonly witness: Witness
  readonly id: string
  readonly waiting = new Set<Thread>()
  readonly holds = new Set<StrangersHold>()
  readonly #threads: readonly Thread[]
  readonly #listening = new Map<string, () => void>()
  readonly #offset: number
  #wallOffset: number
  #watching = false
  closed = false

  constructor(plan: RedissonPlan, machine: Machine, driver: SimDriver, witness: Witness) {
    this.plan = plan
    this.machine = machine
    this.driver = driver
    this.witness = witness
    const hex = Buffer.from(machine.randomBytes(16)).toString('hex')
    this.id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
    this.#offset = this.#wallOffset = plan.wallOffset
    this.#threads = plan.threads.map((steps, number) => new Thread(this, number, steps))
  }

  get name(): string {
    return this.plan.name
  }

  get living(): boolean {
    return !this.closed && !this.machine.dead
  }

  /** Nobody waits longer than what a place of ours in the line is worth: what it takes off their deadlines, they have. */
  get modest(): boolean {
    const waits = this.plan.threads.flat().map(({ wait }) => wait ?? 0)
    return Math.max(this.plan.allowance, ...waits) <= ALLOWANCE
  }

  async run(): Promise<void> {
    await this.driver.open({
      message: ({ channel }) => this.#listening.get(channel)?.(),
      up: () => undefined,
      down: () => undefined,
      moved: () => undefined,
      outOfStep: () => undefined,
      gap: () => undefined,
      unheard: () => undefined,
      error: () => undefined,
    })
    await Promise.all(this.#threads.map((thread) => thread.run()))
  }

  // ---- its connection ----------------------------------------------------------------------------------------------

  async call<S extends Script>(script: S, keys: KeysOf<S>, args: ArgsOf<S>): Promise<ReplyOf<S>> {
    const rest = [keys.length, ...keys, ...args]
    return this.#within(async () => {
      try {
        return await this.driver.send(['EVALSHA', script.sha, ...rest])
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
        return await this.driver.send(['EVAL', script.text, ...rest])
      }
    })
  }

  /** Nobody waits for it to be done. */
  forget(...argv: string[]): void {
    this.driver.send(argv).catch(() => undefined)
  }

  listen(channel: string, wake: () => void): Promise<void> {
    this.#listening.set(channel, wake)
    return this.#within(() => this.driver.subscribe(channel))
  }

  unlisten(channel: string): void {
    this.#listening.delete(channel)
    this.driver.unsubscribe(channel).catch(() => undefined)
  }

  /** Until the connection is there and the reply, or not. */
  async #within<T>(send: () => Promise<T>): Promise<T> {
    const over = this.machine.monotonic() + this.plan.commandTimeout
    while (!this.driver.isUp) {
      if (this.closed || this.machine.monotonic() > over) throw new NoReply('no connection')
      await this.sleep(20)
    }
    return new Promise((resolve, reject) => {
      const timer = this.machine.setTimer(() => {
        reject(new NoReply('no reply in time'))
      }, this.plan.commandTimeout)
      send()
        .finally(() => {
          timer.cancel()
        })
        .then(resolve, reject)
    })
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.machine.setTimer(resolve, ms)
    })
  }

  // ---- its watchdog ------------------------------------------------------------------------------------------------

  watch(): void {
    if (this.#watching) return
    this.#watching = true
    void this.#renewals()
  }

  async #renewals(): Promise<void> {
    for (;;) {
      await this.sleep(this.plan.watchdog / 3)
      const watched = [...this.holds].filter((hold) => hold.watched)
      if (this.closed || watched.length === 0) break
      for (const hold of watched) await this.#renew(hold)
    }
    this.#watching = false
  }

  async #renew(hold: StrangersHold): Promise<void> {
    const sent = this.machine.time
    try {
      const renewed = await this.call(redissonRenew, [hold.name], [this.plan.watchdog, hold.owner])
      if (!this.holds.has(hold)) return
      if (renewed === 1) this.witness.renewed(this, hold, sent + this.plan.watchdog - 1)
      else this.holds.delete(hold)
    } catch {
      // The next round tries again.
    }
  }

  // ---- what happens to it ------------------------------------------------------------------------------------------

  points(): string[] {
    const points = this.driver.flights(this.machine.time - this.plan.commandTimeout).map(({ op }) => op)
    if (this.waiting.size > 0) points.push('waiting')
    if (this.holds.size > 0) points.push('holding')
    return points
  }

  troubled(): void {
    // It promises nothing: there is nothing to excuse.
  }

  abortSomething(): boolean {
    const [thread] = this.waiting
    if (thread === undefined) return false
    this.machine.deliver(() => {
      thread.interrupt()
    })
    return true
  }

  /** Its clock is kept, if badly. */
  stepWall(ms: number): void {
    const offset = Math.max(-SKEW, Math.min(SKEW, this.#offset + ms))
    this.machine.stepWall(offset - this.#wallOffset)
    this.#wallOffset = offset
  }

  /** Shut down: what it has and where it waits stays on the server. */
  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    this.holds.clear()
    await this.driver.close()
    for (const thread of this.#threads) thread.interrupt()
  }

  kill(): void {
    this.closed = true
    this.machine.kill()
    this.driver.kill()
    this.holds.clear()
    this.waiting.clear()
  }
}
