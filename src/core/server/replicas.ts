import type { SendOptions } from '../../engine/driver.js'
import type { Link } from '../../engine/link.js'
import { ReplicationError } from '../../errors.js'
import { slotOf } from '../../keys.js'
import type { Script } from '../../lua/script.js'
import { integer, list, text } from '../../lua/reply-shape.js'
import type { Clock } from '../../base/clock.js'
import type { Reply } from '../../lua/values.js'
import { isError } from '../../thrown.js'

export interface ReplicasOptions {
  readonly clock: Clock
  readonly replicas: { readonly sync: boolean; readonly timeout: number }
}

/** A range of slots whose server has `count` replicas. */
interface Span {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** ms. How long the known number of replicas is trusted. A replica that is added later is noticed then. */
const BELIEVED = 30_000

/**
 * Waits for the replicas after an acquisition, as Redisson does: at least one of them must have it, or a failover could grant the
 * lock to another client as well. If there are no replicas, this does not wait.
 */
export class Replicas {
  readonly #link: Link
  readonly #clock: Clock
  readonly #timeout: number
  #on: boolean
  #spans: readonly Span[] = []
  #heardAt: number

  constructor(link: Link, { clock, replicas }: ReplicasOptions) {
    this.#link = link
    this.#clock = clock
    this.#timeout = replicas.timeout
    this.#on = replicas.sync
    this.#heardAt = clock.monotonic()
  }

  /**
   * `count`: what the server said on connecting; undefined: it cannot have replicas, or would not say. Asks a cluster itself.
   * Resolves with the error if a cluster refused to say.
   */
  async begin(count: number | undefined): Promise<unknown> {
    if (!this.#on) return undefined
    if (this.#link.cluster) {
      return this.#readSlots().then(
        (spans) => void (this.#spans = spans),
        (error: unknown) => error,
      )
    }
    if (count === undefined) this.#on = false
    else this.#spans = everywhere(count)
    return undefined
  }

  /** How many replicas the server of this key has, as far as is known. */
  of(key: string): number {
    if (!this.#on) return 0
    if (this.#clock.monotonic() - this.#heardAt > BELIEVED) void this.look()
    const spans = this.#spans
    if (spans.length < 2) return spans[0]?.count ?? 0
    const slot = slotOf(key)
    return spans.find(({ from, to }) => from <= slot && slot <= to)?.count ?? 0
  }

  /** Asks how many replicas there are. Never rejects: without an answer, the old number stays. */
  async look(): Promise<void> {
    if (!this.#on) return
    this.#heardAt = this.#clock.monotonic()
    const ask = this.#link.cluster ? this.#readSlots() : this.#readInfo()
    this.#spans = await ask.catch(() => this.#spans)
  }

  async #readInfo(): Promise<readonly Span[]> {
    const info = await this.#link.command(['INFO', 'replication'], text)
    return everywhere(replicasIn(info) ?? 0)
  }

  async #readSlots(): Promise<readonly Span[]> {
    const slots = await this.#link.command(['CLUSTER', 'SLOTS'], slotRanges)
    return slots.map(([from, to, ...nodes]) => ({ from, to, count: nodes.length - 1 }))
  }

  /** Runs a script that may acquire. Rejects if what it `took` may be on the master alone. */
  take<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
    took: (reply: R) => boolean,
    options: SendOptions,
  ): Promise<R> {
    const replicas = this.of(keys[0] ?? '')
    if (replicas === 0) return this.#link.run(script, keys, args, options)
    const wait = { replicas, timeout: this.#timeout }
    const taken = this.#link.run(script, keys, args, { ...options, wait })
    return this.#reached(taken, took, keys[0] ?? '', replicas, options.target)
  }

  async #reached<R>(
    taken: Promise<readonly [reply: R, replicas: Promise<number | Error>]>,
    took: (reply: R) => boolean,
    key: string,
    replicas: number,
    target = key,
  ): Promise<R> {
    const [reply, behind] = await taken
    if (!took(reply)) return reply
    const reached = await behind
    // One of several is enough.
    if (typeof reached === 'number' && reached > 0) {
      if (reached !== replicas) void this.look()
      return reply
    }
    await this.look()
    // If the replicas have been removed meanwhile, there is nothing to wait for.
    if (this.of(key) === 0) return reply
    throw new ReplicationError(target, replicas, this.#timeout, isError(reached) ? reached : undefined)
  }
}

/** Only replicas that are online: one that is still being filled may take long. Undefined: the server does not say. */
export const replicasIn = (info: string): number | undefined =>
  info.includes('connected_slaves:') ? [...info.matchAll(/^slave\d+:.*\bstate=online\b/gm)].length : undefined

/** One range of slots: its ends, its master, its replicas. */
type SlotRange = [from: number, to: number, master: Reply, ...replicas: Reply[]]

const slotRanges = (reply: unknown): reply is SlotRange[] => list(reply) && reply.every(isRange)
const isRange = (range: unknown): boolean =>
  list(range) && range.length > 2 && range.slice(0, 2).every(integer) && range.slice(2).every(list)

const everywhere = (count: number): readonly Span[] => (count === 0 ? [] : [{ from: 0, to: Infinity, count }])
