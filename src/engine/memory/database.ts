import type { Clock } from '../../base/clock.js'
import { Expiries } from './expiries.js'
import type { Int } from './numbers.js'
import { type Bytes, ReplyError } from './reply.js'
import type { SortedSet } from './sorted-set.js'

export type Value =
  | { readonly type: 'string'; text: Bytes }
  | { readonly type: 'hash'; readonly fields: Map<Bytes, Bytes> }
  | { readonly type: 'list'; items: Bytes[] }
  | { readonly type: 'set'; readonly members: Set<Bytes> }
  | { readonly type: 'zset'; readonly sorted: SortedSet }

export type TypeName = Value['type']
export type ValueOf<T extends TypeName> = Extract<Value, { type: T }>

export const wrongType = (): ReplyError =>
  new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value')

/** The key space. As in Redis, a key still exists in the millisecond at which it expires, and is gone in the next one. */
export class Database {
  readonly #clock: Clock
  readonly #values = new Map<Bytes, Value>()
  readonly #expiry: Expiries
  /** During a command, even a script, time stands still from the first look at the clock. */
  #inCommand = false
  #moment: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    this.#expiry = new Expiries(clock, (key) => this.#expireIfDue(key))
  }

  /** ms since the epoch. */
  now(): number {
    if (this.#moment !== undefined) return this.#moment
    const now = Math.floor(this.#clock.now())
    if (this.#inCommand) this.#moment = now
    return now
  }

  /** Without this, a key could expire after a handler read it and before it writes it, and would come back without an expiry. */
  beginCommand(): void {
    this.#inCommand = true
  }

  endCommand(): void {
    this.#inCommand = false
    this.#moment = undefined
  }

  get(key: Bytes): Value | undefined {
    if (this.#expiry.size > 0) this.#expireIfDue(key)
    return this.#values.get(key)
  }

  /** The value of that type; undefined if there is none. Throws WRONGTYPE for another type. */
  typed<T extends TypeName>(key: Bytes, type: T): ValueOf<T> | undefined {
    const value = this.get(key)
    if (value === undefined) return undefined
    if (value.type !== type) throw wrongType()
    return value as ValueOf<T>
  }

  /** Stores a value. Its expiry stays unless `keepExpiry` is false. */
  set(key: Bytes, value: Value, keepExpiry = true): void {
    if (this.#expiry.size > 0) {
      if (keepExpiry) this.#expireIfDue(key)
      else this.#expiry.delete(key)
    }
    this.#values.set(key, value)
  }

  delete(key: Bytes): boolean {
    if (this.#expiry.size > 0) {
      this.#expireIfDue(key)
      this.#expiry.delete(key)
    }
    return this.#values.delete(key)
  }

  /** ms since the epoch; undefined if the key does not expire. A bigint if a number could not hold it exactly. */
  expiry(key: Bytes): Int | undefined {
    return this.#expiry.get(key)
  }

  setExpiry(key: Bytes, at: Int | undefined): void {
    if (at === undefined) this.#expiry.delete(key)
    else this.#expiry.set(key, at)
  }

  /** The keys that exist now, in the order in which they were added. */
  keys(): Bytes[] {
    this.sweep()
    return [...this.#values.keys()]
  }

  /**
   * Walks through the keys in the order in which they were added. Keys may be added and removed meanwhile; it may yield an expired
   * one.
   */
  walk(): IterableIterator<Bytes> {
    return this.#values.keys()
  }

  get size(): number {
    this.sweep()
    return this.#values.size
  }

  get expiring(): number {
    this.sweep()
    return this.#expiry.size
  }

  get hasExpiries(): boolean {
    return this.#expiry.size > 0
  }

  clear(): void {
    this.#values.clear()
    this.#expiry.clear()
  }

  /** Removes expired keys. */
  sweep(): void {
    if (this.#expiry.size > 0) this.#expiry.sweep()
  }

  #expireIfDue(key: Bytes): boolean {
    const at = this.#expiry.get(key)
    if (at === undefined || at >= this.now()) return false
    this.#expiry.delete(key)
    this.#values.delete(key)
    return true
  }
}
