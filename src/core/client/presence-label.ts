import { platform } from '#platform'
import type { Link } from '../../engine/link.js'
import { indexKey, presenceKey, registerKey } from '../../keys.js'
import { isRefused, isTransient } from '../server/transient-or-unsure-errors.js'
import { coreClientRegisterClient } from '../../lua/scripts.gen.js'
import { integer, just, text } from '../../lua/reply-shape.js'
import type { Clock, Timer } from '../../base/clock.js'

export interface PresenceLabelOptions {
  readonly clock: Clock
  readonly id: string
  readonly label: string
  /** The key of a name on the server. */
  readonly keyOf: (name: string) => string
  readonly lease: number
}

/** How many labels are read at a time, and up to which byte: another program may have written megabytes. */
const READ = 100
const LAST_BYTE = 999_999

/** Why it is not known whether a client has a label, or which. */
export type LabelUnknown = 'not permitted' | 'unreadable'

/** What could be read. A client that is in neither has no label. */
export interface KnownLabels {
  readonly labels: Map<string, string>
  readonly unknown: Map<string, LabelUnknown>
}

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

  /** The labels of those clients that have one, and which could not be read. */
  static async read(link: Link, clients: readonly string[], mapName: (name: string) => string): Promise<KnownLabels> {
    const known: KnownLabels = { labels: new Map(), unknown: new Map() }
    const all = [...new Set(clients)]
    for (let from = 0; from < all.length; from += READ) {
      const part = all.slice(from, from + READ)
      const settled = await Promise.allSettled(part.map((client) => readLabel(link, client, mapName)))
      settled.forEach((result, at) => note(known, part[at] as string, result))
      const ended = settled.find(endsReading)
      if (ended === undefined) continue
      // Labels are optional: the rest would be refused as well, or take as long.
      for (const client of all.slice(from + READ)) note(known, client, ended)
      break
    }
    return known
  }
}

type ReadResult = PromiseSettledResult<string | null>

const readLabel = async (link: Link, client: string, mapName: (name: string) => string): Promise<string | null> => {
  const key = mapName(presenceKey(client))
  const written = await link.command(['GETRANGE', key, '0', String(LAST_BYTE)], text, { route: key })
  return written === '' ? null : written
}

const endsReading = (result: ReadResult): boolean =>
  result.status === 'rejected' && (isRefused(result.reason) || isTransient(result.reason))

const note = ({ labels, unknown }: KnownLabels, client: string, result: ReadResult): void => {
  if (result.status === 'rejected') unknown.set(client, isRefused(result.reason) ? 'not permitted' : 'unreadable')
  else if (result.value !== null) {
    const label = labelOf(result.value)
    if (label === undefined) unknown.set(client, 'unreadable')
    else labels.set(client, label)
  }
}

/** The label of a client that was given none. */
export const defaultLabel = async (): Promise<string> => {
  const { host, pid } = await platform.whereabouts()
  return `${host}:${pid}`
}

/** Undefined: another program has written it. */
const labelOf = (text: string): string | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('label' in value)) return undefined
    return typeof value.label === 'string' ? value.label : undefined
  } catch {
    return undefined
  }
}
