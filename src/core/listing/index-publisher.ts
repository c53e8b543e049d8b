import type { Timer } from '../../base/clock.js'
import type { PresenceLabel } from '../client/presence-label.js'
import { isRefused } from '../server/transient-or-unsure-errors.js'
import { LocksToPublish, type LockToPublish, type Sources } from './locks-to-publish.js'
import { PublishedFields } from './published-fields.js'

/** ms. How often a client looks at what it holds and waits for, while it does. */
const TICK = 500
/** ms. An entry of a wait stays this long after the wait: where many wait, the next one comes soon. It also says for this long that somebody else has ended a hold. */
export const SETTLES = 5000
/** How many entries one script writes. */
const BATCH = 500

/** One call of `publish`. */
interface Batch {
  readonly gone: readonly string[]
  readonly entries: readonly string[]
}

/**
 * Publishes what this client has held or waited for longer than a second, so that others can list it. No lock depends on it: a
 * reader checks each entry with the server. What lasts for less than a second costs nothing.
 */
export class IndexPublisher {
  readonly #sources: Sources
  readonly #presence: PresenceLabel
  readonly #locks: LocksToPublish
  readonly #fields: PublishedFields
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #ended = false
  #heartbeatAt = 0

  constructor(sources: Sources, presence: PresenceLabel) {
    this.#sources = sources
    this.#presence = presence
    this.#locks = new LocksToPublish(sources)
    this.#fields = new PublishedFields(sources.runtime, presence.index)
    const { runtime } = sources
    presence.lasts = () => this.#locks.longest(runtime.options.clock.monotonic(), ({ watched }) => !watched)
    runtime.stirred = () => this.stir()
    runtime.questions.add(() => {
      this.#fields.unsure = this.#fields.used
    })
  }

  /** Something is held or waited for. */
  stir(): void {
    if (this.#timer !== undefined || this.#running !== undefined || this.#ended) return
    const { clock } = this.#sources.runtime.options
    this.#timer = clock.setTimer(
      () => {
        this.#timer = undefined
        this.#running = this.#tick().finally(() => {
          this.#running = undefined
          if (this.#busy) this.stir()
        })
      },
      TICK,
      { background: true },
    )
  }

  /**
   * The client closes, and its holds end here. If they are not released, they stay in the list until the last of their leases is over: for how many ms. Called
   * before they end. Never rejects.
   */
  async end(release: boolean): Promise<number> {
    this.#ended = true
    this.#timer?.cancel()
    const now = this.#sources.runtime.options.clock.monotonic()
    let stays = 0
    let left: readonly Batch[] = []
    if (!release) {
      // Nobody will release them any more, so they will be old enough.
      this.#locks.addHolds(now)
      stays = this.#locks.longest(now, () => true)
      if (stays > 0) {
        for (const lock of this.#locks.all) lock.forget()
        left = this.#changes(now, Infinity)
      }
    }
    await this.#running
    try {
      if (this.#fields.used) await this.#fields.clear()
      for (const { gone, entries } of left) await this.#fields.write(stays, gone, entries)
    } catch {
      // What is left of it expires.
    }
    return stays
  }

  get #busy(): boolean {
    const { watchdog, waiting } = this.#sources.runtime
    return watchdog.tenures.length > 0 || waiting > 0 || this.#locks.size > 0 || this.#fields.there.size > 0
  }

  /** Never rejects. */
  async #tick(): Promise<void> {
    const now = this.#sources.runtime.options.clock.monotonic()
    this.#locks.look(now)
    if (!this.#sources.runtime.link.isUp || this.#fields.isRefused(now)) return
    try {
      if (this.#fields.unsure) await this.#startAgain()
      if (this.#ended) return
      for (const batch of this.#changes(now)) await this.#write(batch)
      if (this.#fields.there.size > 0 && now >= this.#heartbeatAt) await this.#write({ gone: [], entries: [] })
    } catch (trouble) {
      this.#fields.unsure = true
      if (isRefused(trouble)) this.#fields.refused(now)
    }
  }

  /** `endedBefore`: a wait that was over by then is no longer told. */
  #changes(now: number, endedBefore = now - SETTLES): Batch[] {
    const gone: string[] = []
    const changed: LockToPublish[] = []
    for (const lock of [...this.#locks.all]) {
      if (!lock.lasts(endedBefore, now)) {
        this.#locks.delete(lock)
        if (this.#fields.there.has(lock.field)) gone.push(lock.field)
      } else if (lock.differs(now - SETTLES)) changed.push(lock)
    }
    const batches: Batch[] = []
    for (let from = 0; from < Math.max(gone.length, changed.length); from += BATCH) {
      const entries = changed.slice(from, from + BATCH).flatMap((lock) => [lock.field, this.#textOf(lock, now)])
      batches.push({ gone: gone.slice(from, from + BATCH), entries })
    }
    return batches
  }

  /** Times as the server that has the lock would write them, as far as that is known. */
  #textOf(lock: LockToPublish, now: number): string {
    const { runtime } = this.#sources
    const latest = runtime.serverTime(lock.key).latest
    const serverNow = latest === undefined ? runtime.options.clock.now() : latest / 1000
    return lock.text(now, (mono) => serverNow - (now - mono))
  }

  async #write(batch: Batch): Promise<void> {
    const { gone, entries } = batch
    const { clock, watchdog: lease } = this.#sources.runtime.options
    // If this process is killed, what it holds with a long lease must stay in the list, and with it the client.
    const { usual, stays } = this.#presence
    if (stays > usual) await this.#presence.enlist(stays).catch(() => undefined)
    const there = await this.#fields.write(stays, gone, entries)
    this.#heartbeatAt = clock.monotonic() + lease / 3
    for (const field of gone) this.#fields.there.delete(field)
    for (let i = 0; i < entries.length; i += 2) this.#fields.there.set(entries[i] as string, '')
    // The server has forgotten some, or another program wrote there.
    if (there !== this.#fields.there.size) this.#fields.unsure = true
  }

  /** Everything is written again. */
  async #startAgain(): Promise<void> {
    await this.#fields.clear()
    for (const lock of this.#locks.all) lock.forget()
  }
}
