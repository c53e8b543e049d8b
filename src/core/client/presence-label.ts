import type { Link } from '../../engine/link.js'
import { indexKey, presenceKey, registerKey } from '../../keys.js'
import { coreClientRegisterClient } from '../../lua/scripts.gen.js'
import { either, integer, just, nil, text } from '../../lua/reply-shape.js'
import type { Clock, Timer } from '../../base/clock.js'

export interface PresenceLabelOptions {
  readonly clock: Clock
  readonly id: string
  readonly label: string
  /** The key of a name on the server. */
  readonly keyOf: (name: string) => string
  readonly lease: number
}

/** How many labels are read at a time. */
const READ = 100

/** Tells people which clients there are, and who each is: one small key with a lease of its own, and a register of all. No lock depends on them. */
export class PresenceLabel {
  readonly #link: Link
  readonly #options: PresenceLabelOptions
  readonly #key: string
  readonly #register: string
  /** The key of what the client has published about its locks. */
  readonly index: string
  /** For how many ms a client counts after a heartbeat at least. Holds that are renewed may outlive the last one by a lease, and they come each third of it. */
  readonly usual: number
  /** For how many ms a hold goes on if this process ends now and nothing is renewed. Asked at each heartbeat. */
  lasts: () => number = () => 0
  #timer: Timer | undefined
  #ended = false

  constructor(link: Link, options: PresenceLabelOptions) {
    const { id, keyOf, lease } = options
    this.#link = link
    this.#options = options
    this.#key = keyOf(presenceKey(id))
    this.#register = keyOf(registerKey())
    this.index = keyOf(indexKey(id))
    this.usual = Math.ceil(1.5 * lease)
  }

  async announce(): Promise<void> {
    const { label, lease, clock } = this.#options
    const key = this.#key
    this.#timer?.cancel()
    // If the server refuses it (an ACL, for example), others see this client without a label, or not at all; nothing else changes.
    await Promise.allSettled([
      this.#link.command(['SET', key, JSON.stringify({ label, lease }), 'PX', lease], just('OK'), { route: key }),
      this.enlist(),
    ])
    if (this.#ended) return
    this.#timer = clock.setTimer(() => void this.announce(), lease / 3, { background: true })
  }

  /** For how many ms others can find this client, and what it has published, after a heartbeat. */
  get stays(): number {
    return Math.max(this.usual, this.lasts())
  }

  /** Counts as a client for so many ms; 0: no longer. */
  async enlist(stays = this.stays): Promise<void> {
    await this.#link.run(coreClientRegisterClient, [this.#register], [this.#options.id, stays])
  }

  /** `stays`: for how many ms others can still find what it has published. */
  async end(stays: number): Promise<void> {
    this.#ended = true
    this.#timer?.cancel()
    const key = this.#key
    await Promise.allSettled([this.#link.command(['DEL', key], integer, { route: key }), this.enlist(stays)])
  }

  /** The labels of those clients that have one. */
  static async read(
    link: Link,
    clients: readonly string[],
    mapName: (name: string) => string,
  ): Promise<Map<string, string>> {
    const labels = new Map<string, string>()
    const read = async (client: string): Promise<void> => {
      const key = mapName(presenceKey(client))
      const label = labelOf(await link.command(['GET', key], either(text, nil), { route: key }))
      if (label !== undefined) labels.set(client, label)
    }
    const all = [...new Set(clients)]
    for (let from = 0; from < all.length; from += READ) {
      const settled = await Promise.allSettled(all.slice(from, from + READ).map(read))
      // Labels are optional: after the first that cannot be read, leave out the rest.
      if (settled.some(({ status }) => status === 'rejected')) break
    }
    return labels
  }
}

/** The host and the process. */
export const defaultLabel = async (): Promise<string> => {
  const { hostname } = await import('node:os')
  return `${hostname()}:${process.pid}`
}

const labelOf = (text: unknown): string | undefined => {
  if (typeof text !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('label' in value)) return undefined
    return typeof value.label === 'string' ? value.label : undefined
  } catch {
    return undefined
  }
}
