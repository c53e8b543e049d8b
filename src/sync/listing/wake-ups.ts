import type { Runtime } from '../../core/client/runtime.js'
import type { Attendance } from '../../core/server/shared-subscriptions.js'
import { grantChannel, keyedGrants, lineGrants, readWriteGrants } from '../../keys.js'

/** The text as a pattern that matches nothing else. */
const literal = (text: string): string => text.replace(/[*?[\\]/g, String.raw`\$&`)

/**
 * Hears when locks of this key are granted, whatever the message says. By patterns, because a subscriber of the very channel would count as the client that it
 * belongs to. Redisson's channel is left alone: a release asks how many it reached.
 */
export class WakeUps {
  readonly #ears: readonly Attendance[]

  constructor(runtime: Runtime, key: string, heard: () => void) {
    // Patterns do not match what is published with SPUBLISH.
    const channels = runtime.sharded ? [] : [lineGrants, grantChannel, readWriteGrants, keyedGrants]
    this.#ears = channels.map((of) => runtime.subscriptions.attend('pattern', `${literal(of(key))}:*`, heard))
    // This user may not subscribe, or cannot now: it looks at its interval.
    for (const ear of this.#ears) ear.ready?.catch(() => void ear.leave())
  }

  async end(): Promise<void> {
    await Promise.all(this.#ears.map((ear) => ear.leave()))
  }
}
