import { LONGEST_ENTRY } from '../../script-times-and-limits.js'
import { numberOf } from '../../keys.js'
import type { Runtime } from '../client/runtime.js'
import type { OpenGate } from '../gate/lock-kind.js'
import type { Tenure } from '../hold/tenure.js'

/** ms. What is held or waited for this long is published. */
export const LONG = 1000
/** How many locks a client publishes at most. */
export const MOST = 10_000
/** How many keys of a group are published, and how many characters they may have. */
const MOST_KEYS = 100
const LONGEST_KEYS = 4096
/** In characters: the longest entry, and all entries. What is beyond is left out. In JSON, a character has six bytes at most. */
const LONGEST_TEXT = Math.floor(LONGEST_ENTRY / 6)
const ALL_ENTRIES = 4_000_000

const fieldOf = (kind: string, key: string): string => `${kind} ${key}`

/** An owner that holds, or a place that waits, by its running number; and since when, on the monotonic clock. */
interface Spell {
  readonly number: number
  readonly since: number
}

/** The part of a client that holds and waits. */
export interface Sources {
  readonly runtime: Runtime
  readonly gates: { readonly all: readonly OpenGate[] }
  readonly turnstiles: { readonly all: Iterable<OpenTurnstile> }
}

/** What many may have at once, while calls here wait for it. */
interface OpenTurnstile {
  readonly passage: Named & { readonly kind: { readonly name: string }; readonly standing?: string | undefined }
  readonly firstWaiter: { readonly counted: boolean; readonly since: number } | undefined
}

/** One lock that this client has held or waited for longer than a second. */
export class LockToPublish {
  readonly field: string
  readonly key: string
  /** At most, in characters. */
  readonly size: number
  readonly #name: string
  readonly tenures = new Set<Tenure>()
  #waits: Spell | undefined
  /** Of a group: the sets of keys that calls have waited for, and when each was last seen. */
  readonly #wanted = new Map<readonly string[], number>()
  /** When a call was last seen waiting, on the monotonic clock. */
  waitedAt = -Infinity
  /** The hold that somebody else has ended, and when that was noticed, on the monotonic clock. */
  #lost: { readonly number: number; readonly at: number } | undefined
  /** When it was last written, and the numbers in that text. */
  writtenAt = -Infinity
  #written: { readonly holds: number | undefined; readonly waits: number | undefined } | undefined

  constructor(kind: string, { name, key, keys }: Named) {
    this.field = fieldOf(kind, key)
    this.size = this.field.length + name.length + (keys === undefined ? 0 : LONGEST_KEYS)
    this.key = key
    this.#name = name
  }

  add(tenure: Tenure): void {
    this.tenures.add(tenure)
    this.#changed(tenure.kind.keys)
  }

  waits(spell: Spell, now: number, keys?: readonly string[]): void {
    if (keys !== undefined) {
      if (!this.#wanted.has(keys)) this.#changed(keys)
      this.#wanted.set(keys, now)
    }
    // Of a group, several sets may be waited for.
    if (this.#waits === undefined || this.waitedAt < now || spell.since < this.#waits.since) this.#waits = spell
    this.waitedAt = now
  }

  /** Forgets holds that have ended. Whether something is left to publish: a wait is, for some time after it has ended, and a hold that was taken away. */
  lasts(endedBefore: number, now: number): boolean {
    for (const tenure of this.tenures) {
      if (!tenure.over) continue
      this.tenures.delete(tenure)
      if (tenure.taken) this.#lost = { number: numberOf(tenure.wire), at: now }
      this.#changed(tenure.kind.keys)
    }
    for (const [keys, at] of this.#wanted) {
      if (at >= endedBefore) continue
      this.#wanted.delete(keys)
      this.#changed(keys)
    }
    if (this.waitedAt < endedBefore) this.#waits = undefined
    if (this.#lost !== undefined && this.#lost.at < endedBefore) this.#lost = undefined
    return this.tenures.size > 0 || this.#waits !== undefined || this.#lost !== undefined
  }

  #changed(keys: readonly string[] | undefined): void {
    if (keys !== undefined) this.#written = undefined
  }

  /** Whether it must be written now. That a wait has ended, and another has begun, may be late. */
  differs(settledBefore: number): boolean {
    if (this.#written === undefined) return true
    const { holds, waits } = this.#written
    if (holds !== this.#holds?.number || (waits === undefined && this.#waits !== undefined)) return true
    return waits !== this.#waits?.since && this.writtenAt < settledBefore
  }

  /** The text for other clients. `serverAt`: the server's time at a moment of the monotonic clock. */
  text(now: number, serverAt: (mono: number) => number): string {
    const [holds, waits] = [this.#holds, this.#waits]
    this.#written = { holds: holds?.number, waits: waits?.since }
    this.writtenAt = now
    const { keys, more } = this.#keys
    const toldOf = ({ number, since }: Spell): [number, number] => [number, Math.round(serverAt(since))]
    return JSON.stringify({
      ...(this.#name !== this.key && { n: this.#name }),
      ...(holds !== undefined && { h: toldOf(holds) }),
      ...(waits !== undefined && { w: toldOf(waits) }),
      ...(this.#lost !== undefined && { l: this.#lost.number }),
      ...(keys.size > 0 && { k: [...keys] }),
      ...(more && { m: 1 }),
    })
  }

  /** It is not known whether the server has it. */
  forget(): void {
    this.#written = undefined
  }

  /** Of a group: as many of the keys that are held or waited for here as there is room for. */
  get #keys(): { readonly keys: ReadonlySet<string>; readonly more: boolean } {
    const keys = new Set<string>()
    let room = LONGEST_KEYS
    for (const set of [...[...this.tenures].map(({ kind }) => kind.keys ?? []), ...this.#wanted.keys()]) {
      for (const key of set) {
        if (keys.has(key)) continue
        if (keys.size === MOST_KEYS || key.length > room) return { keys, more: true }
        keys.add(key)
        room -= key.length
      }
    }
    return { keys, more: false }
  }

  /** The oldest hold: several owners here may read. */
  get #holds(): Spell | undefined {
    let oldest: Tenure | undefined
    for (const tenure of this.tenures) if (oldest === undefined || tenure.opened < oldest.opened) oldest = tenure
    return oldest && { number: numberOf(oldest.wire), since: oldest.opened }
  }
}

interface Named {
  readonly name: string
  readonly key: string
  readonly keys?: readonly string[] | undefined
}

/** What this client has held or waited for longer than a second, by field. */
export class LocksToPublish {
  readonly #sources: Sources
  readonly #all = new Map<string, LockToPublish>()
  #room = ALL_ENTRIES

  constructor(sources: Sources) {
    this.#sources = sources
  }

  get all(): Iterable<LockToPublish> {
    return this.#all.values()
  }

  get size(): number {
    return this.#all.size
  }

  delete(lock: LockToPublish): void {
    this.#all.delete(lock.field)
    this.#room += lock.size
  }

  /** For how many ms at most a hold like that goes on if nothing is renewed from now on. */
  longest(now: number, like: (tenure: Tenure) => boolean): number {
    let longest = 0
    for (const { tenures } of this.#all.values())
      for (const tenure of tenures)
        if (!tenure.over && like(tenure)) longest = Math.max(longest, tenure.lastsUntil - now)
    return Math.ceil(longest)
  }

  /** Adds what has become old enough. */
  look(now: number): void {
    this.addHolds(now - LONG)
    if (this.#sources.runtime.waiting === 0) return
    this.#waits(now)
    this.#waitsForPermits(now)
  }

  /** Those that began by then. */
  addHolds(before: number): void {
    // Thousands of holds may be looked at, twice a second: so first what costs nothing.
    for (const tenure of this.#sources.runtime.watchdog.tenures) {
      if (tenure.listed || tenure.opened > before) continue
      if (this.#all.size >= MOST) return
      // A permit has an id instead of a name; it is not published yet.
      tenure.listed = Number.isNaN(numberOf(tenure.wire))
      if (tenure.listed) continue
      const { name, kind, protocol } = tenure
      const lock = this.#at(kind.name, { name, key: protocol.key, keys: kind.keys })
      lock?.add(tenure)
      tenure.listed = lock !== undefined
    }
  }

  #waits(now: number): void {
    for (const { name, kind, protocol, firstWaiter: first } of this.#sources.gates.all) {
      if (first === undefined || !first.counted || first.since > now - LONG) continue
      const spell = { number: first.place?.number ?? 0, since: first.since }
      this.#at(kind.name, { name, key: protocol.key, keys: kind.keys })?.waits(spell, now, kind.keys)
    }
  }

  #waitsForPermits(now: number): void {
    for (const { passage, firstWaiter: first } of this.#sources.turnstiles.all) {
      if (first === undefined || !first.counted || first.since > now - LONG) continue
      const { kind, name, key, standing } = passage
      // A latch has no line. No place has the number 0.
      const number = standing === undefined ? 0 : numberOf(standing)
      this.#at(kind.name, { name, key })?.waits({ number, since: first.since }, now)
    }
  }

  /** Undefined: there are too many, or its text would be too long. */
  #at(kind: string, named: Named): LockToPublish | undefined {
    const there = this.#all.get(fieldOf(kind, named.key))
    if (there !== undefined) return there
    const made = new LockToPublish(kind, named)
    if (this.#all.size >= MOST || made.size > Math.min(LONGEST_TEXT, this.#room)) return undefined
    this.#room -= made.size
    this.#all.set(made.field, made)
    return made
  }
}
