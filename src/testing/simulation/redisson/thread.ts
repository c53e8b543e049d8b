import { NoReply } from '../../../engine/driver.js'
import { fairCall, fairDeadlines, fairQueue, lockChannel } from '../../../keys.js'
import type { RedissonPlan, ThreadStep } from './plan.js'
import {
  redissonAcquire,
  redissonCancel,
  redissonExpire,
  redissonForceRelease,
  redissonTry,
  redissonUnlock,
} from './scripts.gen.js'
import type { ArgsOf, KeysOf, ReplyOf, Script } from '../../../lua/script.js'
import type { Machine } from '../machine.js'

/** How long what an unlock did is kept for its repetition, ms. */
const MEMORY = 18_000
/** After so many questions in a row whose answer was "ask at once", its machine has other work, too. */
const BUSY = 30

class Interrupted extends Error {}

/** What a thread has, as far as it knows: nobody tells it when that is lost. */
export interface StrangersHold {
  readonly call: string
  readonly owner: string
  readonly name: string
  readonly lease: number
  /** Its watchdog prolongs it. */
  readonly watched: boolean
}

/** The process that a thread is of. */
export interface ThreadHost {
  readonly id: string
  readonly name: string
  readonly plan: RedissonPlan
  readonly machine: Machine
  readonly witness: Witness
  readonly waiting: Set<Thread>
  readonly holds: Set<StrangersHold>
  readonly living: boolean
  call<S extends Script>(script: S, keys: KeysOf<S>, args: ArgsOf<S>): Promise<ReplyOf<S>>
  /** Nobody waits for it to be done. */
  forget(...argv: string[]): void
  listen(channel: string, wake: () => void): Promise<void>
  unlisten(channel: string): void
  sleep(ms: number): Promise<void>
  /** Its watchdog goes on. */
  watch(): void
}

/** Who hears of what its threads do. */
export interface Witness {
  invoked(party: ThreadHost, call: string, owner: string, name: string): void
  refused(party: ThreadHost, call: string, owner: string, name: string): void
  /** It trusts the hold for its lease, from before it asked. */
  granted(party: ThreadHost, hold: StrangersHold, until: number): void
  renewed(party: ThreadHost, hold: StrangersHold, until: number): void
  releasing(party: ThreadHost, hold: StrangersHold): void
  released(party: ThreadHost, hold: StrangersHold, freed: boolean): void
  note(who: string, text: string): void
}

/** One thread of a Redisson: does its steps one after the other, under one owner. */
export class Thread {
  readonly #redisson: ThreadHost
  readonly #steps: readonly ThreadStep[]
  #number: number
  /** Calls for the next wait, one after the other: one that comes early is kept. */
  #permits = 0
  #wake: (() => void) | undefined
  #interrupted = false
  #calls = 0

  constructor(redisson: ThreadHost, number: number, steps: readonly ThreadStep[]) {
    this.#redisson = redisson
    this.#number = number
    this.#steps = steps
  }

  get #owner(): string {
    return `${this.#redisson.id}:${this.#number}`
  }

  async run(): Promise<void> {
    for (const step of this.#steps) {
      if (step.before > 0) await this.#redisson.sleep(step.before)
      if (!this.#redisson.living) return
      try {
        await this.#perform(step)
      } catch (error) {
        this.#redisson.witness.note(this.#redisson.name, `${step.id} ends: ${String(error)}`)
      }
    }
  }

  /** From another thread: the wait it is in ends, and its place in the line is left to itself. */
  interrupt(): void {
    this.#interrupted = true
    this.#wake?.()
  }

  async #perform(step: ThreadStep): Promise<void> {
    if (step.does === 'force') {
      const [lock, queue, deadlines] = this.#keys(step)
      const keys = [lock, queue, deadlines, lockChannel(step.name)] as const
      await this.#redisson.call(redissonForceRelease, keys, ['0', this.#redisson.machine.now(), 'PUBLISH'])
      return
    }
    const hold = await this.#acquire(step, step.id)
    if (hold === undefined) return
    try {
      if (step.expire) await this.#expire(step)
      await this.#redisson.sleep(step.work / 2)
      if (step.nested && this.#redisson.living) await this.#nest(step)
      await this.#redisson.sleep(step.work / 2)
    } finally {
      await this.#unlock(hold)
    }
  }

  async #nest(step: ThreadStep): Promise<void> {
    const inner = await this.#acquire({ ...step, does: 'try', wait: undefined }, `${step.id}/nested`)
    if (inner === undefined) return
    await this.#redisson.sleep(step.work / 4)
    await this.#unlock(inner)
  }

  #keys({ name }: ThreadStep): readonly [lock: string, queue: string, deadlines: string] {
    return [name, fairQueue(name), fairDeadlines(name)]
  }

  // ---- taking ------------------------------------------------------------------------------------------------------

  async #acquire(step: ThreadStep, id: string): Promise<StrangersHold | undefined> {
    const { witness, waiting } = this.#redisson
    const call = `${id}#${++this.#calls}`
    const owner = this.#owner
    witness.invoked(this.#redisson, call, owner, step.name)
    this.#interrupted = false
    waiting.add(this)
    try {
      const sent = step.does === 'try' ? await this.#try(step) : await this.#wait(step)
      if (sent !== undefined) return this.#has(step, call, sent)
    } catch (error) {
      witness.refused(this.#redisson, call, owner, step.name)
      throw error
    } finally {
      waiting.delete(this)
    }
    witness.refused(this.#redisson, call, owner, step.name)
    return undefined
  }

  #has({ name, lease }: ThreadStep, call: string, sent: number): StrangersHold {
    const { plan, holds, witness } = this.#redisson
    const term = lease ?? plan.watchdog
    const hold = { call, owner: this.#owner, name, lease: term, watched: lease === undefined }
    holds.add(hold)
    if (hold.watched) this.#redisson.watch()
    // The server counts in whole milliseconds.
    witness.granted(this.#redisson, hold, sent + term - 1)
    return hold
  }

  #lease({ lease }: ThreadStep): number {
    return lease ?? this.#redisson.plan.watchdog
  }

  /** When it asked for what it has now; undefined: it does not have it. */
  async #try(step: ThreadStep): Promise<number | undefined> {
    const { machine, plan } = this.#redisson
    const sent = machine.time
    const args = [this.#lease(step), this.#owner, machine.now(), plan.allowance] as const
    return (await this.#redisson.call(redissonTry, this.#keys(step), args)) === 1 ? sent : undefined
  }

  /** The loop of lock() and tryLock(wait): ask, listen, ask, sleep until called or the lease is over, ask… */
  async #wait(step: ThreadStep): Promise<number | undefined> {
    const { machine } = this.#redisson
    const over = machine.monotonic() + (step.wait ?? Infinity)
    const channel = fairCall(step.name, this.#owner)
    try {
      let [left, sent] = await this.#ask(step)
      if (left === null) return sent
      if (machine.monotonic() < over) await this.#redisson.listen(channel, () => this.#called())
      for (let asked = 0; machine.monotonic() < over; asked = left === 0 ? asked + 1 : 0) {
        ;[left, sent] = await this.#ask(step)
        if (left === null) return sent
        const pause = left === 0 ? (asked < BUSY ? 3 * machine.random() : 100) : left < 0 ? Infinity : left
        await this.#sleep(Math.min(pause, over - machine.monotonic()))
      }
    } catch (error) {
      if (!(error instanceof Interrupted)) await this.#cancel(step)
      throw error
    } finally {
      this.#redisson.unlisten(channel)
      this.#permits = 0
    }
    await this.#cancel(step)
    return undefined
  }

  async #ask(step: ThreadStep): Promise<[left: number | null, sent: number]> {
    const { machine, plan } = this.#redisson
    const sent = machine.time
    const args = [this.#lease(step), this.#owner, step.wait ?? plan.allowance, machine.now()] as const
    return [await this.#redisson.call(redissonAcquire, this.#keys(step), args), sent]
  }

  async #cancel(step: ThreadStep): Promise<void> {
    const [, queue, deadlines] = this.#keys(step)
    const allowance = step.wait ?? this.#redisson.plan.allowance
    await this.#redisson.call(redissonCancel, [queue, deadlines], [this.#owner, allowance])
  }

  #called(): void {
    this.#permits++
    this.#wake?.()
  }

  async #sleep(ms: number): Promise<void> {
    if (!this.#interrupted && this.#permits === 0) {
      await new Promise<void>((resolve) => {
        const timer = ms === Infinity ? undefined : this.#redisson.machine.setTimer(resolve, ms)
        this.#wake = () => {
          timer?.cancel()
          resolve()
        }
      })
      this.#wake = undefined
    }
    if (this.#interrupted) throw new Interrupted('interrupted')
    this.#permits = Math.max(0, this.#permits - 1)
  }

  // ---- giving back -------------------------------------------------------------------------------------------------

  async #unlock(hold: StrangersHold): Promise<void> {
    const { machine, witness, plan, holds } = this.#redisson
    if (!this.#redisson.living) return
    holds.delete(hold)
    witness.releasing(this.#redisson, hold)
    const latch = `redisson_unlock_latch:{${hold.name}}:${Buffer.from(machine.randomBytes(16)).toString('hex')}`
    const { name, owner } = hold
    const keys = [name, fairQueue(name), fairDeadlines(name), lockChannel(name), latch] as const
    const lease = hold.watched ? plan.watchdog : hold.lease
    try {
      const args = ['0', lease, owner, machine.now(), 'PUBLISH', MEMORY] as const
      const freed = await this.#redisson.call(redissonUnlock, keys, args)
      this.#redisson.forget('DEL', latch)
      witness.released(this.#redisson, hold, freed === 1)
    } catch (error) {
      witness.released(this.#redisson, hold, false)
      // Run late, it would free what this thread takes next: a flaw of Redisson's own, which is not looked for here.
      if (error instanceof NoReply) this.#number += 10
      throw error
    }
  }

  async #expire(step: ThreadStep): Promise<void> {
    await this.#redisson.call(redissonExpire, this.#keys(step), [this.#lease(step)])
  }
}
