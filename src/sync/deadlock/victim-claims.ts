import { platform } from '#platform'
import type { Runtime } from '../../core/client/runtime.js'
import { isRefused } from '../../core/server/transient-or-unsure-errors.js'
import { deadlockKey } from '../../keys.js'
import { either, integer, just, nil, text } from '../../lua/reply-shape.js'

/** ms. For longer than any client goes on to see the deadlock. */
const LASTS = 10_000

/** Who ends a deadlock: the client that claims it first. */
export class VictimClaims {
  readonly #runtime: Runtime
  readonly #claimed = new Map<string, number>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Whether this client ends it. Rejects if the server does not say. A client that may not claim tells others nothing about its calls either, so no other client claims. */
  claim(id: string): Promise<boolean> {
    return this.#claim(id).catch((trouble: unknown) => {
      if (isRefused(trouble)) return true
      throw trouble
    })
  }

  async #claim(id: string): Promise<boolean> {
    const { link, options } = this.#runtime
    const key = this.#runtime.keyOf(deadlockKey(platform.hash('sha1', id)))
    const now = options.clock.monotonic()
    for (const [old, until] of this.#claimed) if (until <= now) this.#claimed.delete(old)
    this.#claimed.set(key, now + LASTS)
    const set = await link.command(['SET', key, options.id, 'PX', LASTS, 'NX'], either(just('OK'), nil), { route: key })
    // An earlier answer may have been lost.
    return set === 'OK' || (await link.command(['GET', key], either(text, nil), { route: key })) === options.id
  }

  async end(): Promise<void> {
    const keys = [...this.#claimed.keys()]
    await Promise.all(keys.map((key) => this.#runtime.link.command(['DEL', key], integer, { route: key })))
  }
}
