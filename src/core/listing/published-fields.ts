import type { Runtime } from '../client/runtime.js'
import { integer } from '../../lua/reply-shape.js'
import { coreListingPublish } from '../../lua/scripts.gen.js'

/** The fields that a client publishes under one key: which of them the server has, as far as that is known, and when to write again after a refusal. */
export class PublishedFields {
  /** What the server has, if it has forgotten nothing: each field, and what was written there if that matters. */
  readonly there = new Map<string, string>()
  /** It is not known what the server has. */
  unsure = false
  readonly #runtime: Runtime
  readonly #key: string
  /** Until then, on the monotonic clock, nothing is written. */
  #refusedUntil = -Infinity

  constructor(runtime: Runtime, key: string) {
    this.#runtime = runtime
    this.#key = key
  }

  /** Something may be on the server. */
  get used(): boolean {
    return this.unsure || this.there.size > 0
  }

  /** Whether the server has refused lately: it may do so again. */
  isRefused(now: number): boolean {
    return now < this.#refusedUntil
  }

  /** The client has no right to this key, or no longer. */
  refused(now: number): void {
    this.#refusedUntil = now + this.#runtime.options.watchdog / 3
  }

  /** Keeps the key for `stays` ms. `entries`: fields, each followed by its text. Resolves with the number of fields that the server has then. */
  write(stays: number, gone: readonly string[], entries: readonly string[]): Promise<number> {
    return this.#runtime.link.run(coreListingPublish, [this.#key], [stays, gone.length, ...gone, ...entries])
  }

  /** Removes everything from the server. */
  async clear(): Promise<void> {
    this.unsure = true
    await this.#runtime.link.command(['DEL', this.#key], integer, { route: this.#key })
    this.there.clear()
    this.unsure = false
  }
}
