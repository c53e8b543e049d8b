import type { Clock } from '../../core/clock.js'
import type { Runner } from '../../core/protocol.js'
import type { Waiter } from '../../core/queue.js'
import type { Patience } from '../../core/request.js'
import { KEPT } from '../../core/requests.js'
import type { Runtime } from '../../core/runtime.js'
import { Speaker } from '../../core/speaker.js'
import type { Terms } from '../../core/terms.js'
import { type Moment, momentOf } from '../../core/trust.js'
import { type Answer, type Passage, unlessSetUp } from '../../core/passage.js'
import { permitTimeouts, semaphoreChannel } from '../../keys.js'
import {
  permitSemaphoreAcquire,
  permitSemaphoreCount,
  permitSemaphoreRelease,
  permitSemaphoreRetract,
} from '../../lua/scripts.gen.js'

export interface PermitsRequest extends Patience {
  readonly count: number
  /** An infinite lease is one for ever. */
  readonly terms: Terms
  /** It has been checked once against how many there are in all: they may be added one by one while it waits. */
  asked?: true
}

/** Permits of one call, and when they were asked for. */
export interface Grant {
  readonly ids: readonly string[]
  readonly sent: Moment
}

/** As many ids weigh as much as a call. */
const IDS_OF_A_CALL = 20

/** 16 random bytes, as Redisson shows them. */
const newId = (clock: Clock): string => Buffer.from(clock.randomBytes(16)).toString('hex')

/** The permits of a semaphore, as those see them who take some: each has an id. */
export class IdentifiedPermits implements Passage<PermitsRequest, Grant> {
  readonly name: string
  readonly kind = { name: 'permitSemaphore' }
  readonly key: string
  readonly timeouts: string
  readonly channel: string
  readonly runtime: Runtime
  readonly runner: Runner

  constructor(runtime: Runtime, name: string, key: string) {
    this.runtime = runtime
    this.runner = new Speaker(runtime, name)
    this.name = name
    this.key = key
    this.timeouts = permitTimeouts(key)
    this.channel = semaphoreChannel(key)
  }

  /** As scripts take an id. Redisson up to 3.16 keeps its text; see `member-of.lua`. */
  marked(id: string): string {
    const { redisson } = this.runner.fleet
    return redisson === '3.8' || redisson === '3.16' ? `=${id}` : id
  }

  weight({ count }: PermitsRequest): number {
    return Math.max(1, count / IDS_OF_A_CALL)
  }

  async ask(waiters: readonly Waiter<PermitsRequest, Grant>[]): Promise<Answer<PermitsRequest, Grant>> {
    const { runner, runtime } = this
    const { clock } = runtime.options
    const note = runtime.requests.note(this.key)
    const sent = momentOf(clock)
    const grants = waiters.map(({ request }) => ({
      sent,
      ids: Array.from({ length: request.count }, () => newId(clock)),
    }))
    const calls = waiters.flatMap(({ request: { terms } }, place) => {
      const ids = (grants[place] as Grant).ids.map((id) => this.marked(id))
      return [terms.lease === Infinity ? 0 : terms.lease, ids.length, ...ids]
    })
    try {
      const keys = [this.key, this.timeouts, this.channel, note] as const
      const args = [runner.publishCommand, ...calls] as const
      const [served, left, all] = await runner.take(permitSemaphoreAcquire, keys, args, ([count]) => count > 0)
      if (served === -1) return { granted: [], left, vain: unlessSetUp(this.name, 'permits are') }
      return { granted: grants.slice(0, served), left, vain: (request) => this.#tooMany(request, all) }
    } catch (error) {
      const ids = grants.flatMap((grant) => grant.ids.map((id) => this.marked(id)))
      const keys = [this.key, this.channel, this.timeouts, note] as const
      const retract = (): Promise<number> => runner.run(permitSemaphoreRetract, keys, [runner.publishCommand, ...ids])
      runtime.requests.undo(error, retract, Math.max(...waiters.map(({ request }) => request.terms.lease)))
      throw error
    }
  }

  /** None in all may well be set by who adds some later. */
  #tooMany(request: PermitsRequest, all: number): Error | undefined {
    const { count, needsSetup, asked } = request
    request.asked = true
    if (asked === true || needsSetup !== true || all < 1 || count <= all) return undefined
    return new RangeError(`count must be at most the permits that '${this.name}' has in all, ${all}, not ${count}`)
  }

  async count(): Promise<{ there: boolean; available: number; acquired: number }> {
    const keys = [this.key, this.timeouts, this.channel] as const
    const [there, available, acquired] = await this.runner.run(permitSemaphoreCount, keys, [this.runner.publishCommand])
    return { there: there === 1, available, acquired }
  }

  /** All or none. */
  async release(ids: readonly string[], note: string): Promise<boolean> {
    const keys = [this.key, this.channel, this.timeouts, note] as const
    const args = [this.runner.publishCommand, ...ids.map((id) => this.marked(id))] as const
    return (await this.runtime.turnstiles.give(this, () => this.runner.run(permitSemaphoreRelease, keys, args))) !== -1
  }

  async giveBack({ ids }: Grant): Promise<void> {
    await this.runtime.requests.surely(this.key, (note) => this.release(ids, note), { kept: KEPT })
  }
}
