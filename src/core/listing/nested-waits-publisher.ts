import type { Runtime } from '../client/runtime.js'
import { waitsKey } from '../../keys.js'
import { coreListingPublish } from '../../lua/scripts.gen.js'
import { integer } from '../../lua/reply-shape.js'
import { isRefused } from '../server/error-kinds.js'
import { BEAT_FIELD, textOf, type ToldWait } from './nested-wait-format.js'

/** ms. How long others believe what a client has published: one that is stopped or gone proves nothing. */
const STAYS = 3000

/** Publishes the nested waits of this client, with a number that grows with each write: it shows that the client still looks at them. */
export class NestedWaitsPublisher {
  readonly #runtime: Runtime
  readonly #key: string
  /** What the server has, if it has forgotten nothing. */
  readonly #there = new Map<string, string>()
  #beat = 0
  /** It is not known what the server has. */
  #unsure = false
  /** The server has refused: not before then, on the monotonic clock. */
  #notBefore = -Infinity

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#key = runtime.keyOf(waitsKey(runtime.options.id))
  }

  /** Something of it may be on the server. */
  get used(): boolean {
    return this.#unsure || this.#there.size > 0
  }

  /** Whether something is different from the last time. */
  async write(waits: readonly ToldWait[]): Promise<boolean> {
    if (this.#runtime.options.clock.monotonic() < this.#notBefore) return false
    try {
      return await this.#update(waits)
    } catch (trouble) {
      if (isRefused(trouble)) this.#forget()
      throw trouble
    }
  }

  /** The client has no right to these keys, or no longer: what is there expires. */
  #forget(): void {
    const { clock, watchdog: lease } = this.#runtime.options
    this.#there.clear()
    this.#unsure = false
    this.#notBefore = clock.monotonic() + lease / 3
  }

  async #update(waits: readonly ToldWait[]): Promise<boolean> {
    if (this.#unsure) await this.clear()
    if (waits.length === 0 && this.#there.size === 0) return false
    const texts = new Map(waits.map(textOf))
    const changed = [...texts].filter(([field, text]) => this.#there.get(field) !== text)
    const gone = [...this.#there.keys()].filter((field) => !texts.has(field))
    if (waits.length === 0) await this.clear()
    else await this.#send(texts, changed, gone)
    return changed.length + gone.length > 0
  }

  async #send(texts: ReadonlyMap<string, string>, changed: [string, string][], gone: readonly string[]): Promise<void> {
    this.#unsure = true
    // One number for each look at the calls, however often it is written: it proves that there was such a look.
    const beat = String(++this.#beat)
    const size = await this.#publish(beat, gone, changed)
    if (size !== texts.size + 1) {
      // It had expired, or another program wrote there.
      await this.clear()
      this.#unsure = true
      await this.#publish(beat, [], [...texts])
    }
    this.#there.clear()
    for (const [field, text] of texts) this.#there.set(field, text)
    this.#unsure = false
  }

  #publish(beat: string, gone: readonly string[], changed: readonly [string, string][]): Promise<number> {
    const args = [STAYS, gone.length, ...gone, ...changed.flat(), BEAT_FIELD, beat] as const
    return this.#runtime.link.run(coreListingPublish, [this.#key], args)
  }

  /** Removes everything from the server. */
  async clear(): Promise<void> {
    if (!this.used) return
    this.#unsure = true
    await this.#runtime.link.command(['DEL', this.#key], integer, { route: this.#key })
    this.#there.clear()
    this.#unsure = false
  }
}
