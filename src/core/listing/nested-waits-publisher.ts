import type { Runtime } from '../client/runtime.js'
import { waitsKey } from '../../keys.js'
import { isRefused } from '../server/transient-or-unsure-errors.js'
import { BEAT_FIELD, textOf, type ToldWait } from './nested-wait-format.js'
import { PublishedFields } from './published-fields.js'

/** ms. How long others believe what a client has published: one that is stopped or gone proves nothing. */
const STAYS = 3000

/** Publishes the nested waits of this client, with a number that grows with each write: it shows that the client still looks at them. */
export class NestedWaitsPublisher {
  readonly #runtime: Runtime
  readonly #fields: PublishedFields
  #beat = 0

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#fields = new PublishedFields(runtime, runtime.keyOf(waitsKey(runtime.options.id)))
  }

  /** Something of it may be on the server. */
  get used(): boolean {
    return this.#fields.used
  }

  /** Whether something is different from the last time. */
  async write(waits: readonly ToldWait[]): Promise<boolean> {
    if (this.#fields.isRefused(this.#runtime.options.clock.monotonic())) return false
    try {
      return await this.#update(waits)
    } catch (trouble) {
      if (isRefused(trouble)) this.#forget()
      throw trouble
    }
  }

  /** The client has no right to these keys, or no longer: what is there expires. */
  #forget(): void {
    this.#fields.there.clear()
    this.#fields.unsure = false
    this.#fields.refused(this.#runtime.options.clock.monotonic())
  }

  async #update(waits: readonly ToldWait[]): Promise<boolean> {
    if (this.#fields.unsure) await this.clear()
    if (waits.length === 0 && this.#fields.there.size === 0) return false
    const texts = new Map(waits.map(textOf))
    const changed = [...texts].filter(([field, text]) => this.#fields.there.get(field) !== text)
    const gone = [...this.#fields.there.keys()].filter((field) => !texts.has(field))
    if (waits.length === 0) await this.clear()
    else await this.#send(texts, changed, gone)
    return changed.length + gone.length > 0
  }

  async #send(texts: ReadonlyMap<string, string>, changed: [string, string][], gone: readonly string[]): Promise<void> {
    this.#fields.unsure = true
    // One number for each look at the calls, however often it is written: it proves that there was such a look.
    const beat = String(++this.#beat)
    const size = await this.#publish(beat, gone, changed)
    if (size !== texts.size + 1) {
      // It had expired, or another program wrote there.
      await this.clear()
      this.#fields.unsure = true
      await this.#publish(beat, [], [...texts])
    }
    this.#fields.there.clear()
    for (const [field, text] of texts) this.#fields.there.set(field, text)
    this.#fields.unsure = false
  }

  #publish(beat: string, gone: readonly string[], changed: readonly [string, string][]): Promise<number> {
    return this.#fields.write(STAYS, gone, [...changed.flat(), BEAT_FIELD, beat])
  }

  /** Removes everything from the server. */
  async clear(): Promise<void> {
    if (this.used) await this.#fields.clear()
  }
}
