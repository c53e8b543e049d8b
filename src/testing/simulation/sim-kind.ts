import type { Client } from '../../api/client.js'
import type { ClientOptions } from '../../config/client-options.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import type { Lock } from '../../api/lock.js'

/** Where a line is on the server. */
export interface LineKeys {
  queue(name: string): string
  deadlines(name: string): string
  /** Where this owner's process hears of grants, as far as the server knows it. */
  grants(name: string, wire: string, redis: MemoryServer): string
}

/** Where those who wait for permits stand, and what tells who takes some. */
export interface PermitsLineKeys {
  /** Of its scripts. */
  readonly kind: string
  queue(name: string): string
  deadlines(name: string): string
  amounts(name: string): string
  grants(name: string): string
  /** The ids of those that are taken, where they have some. */
  taken?(redis: MemoryServer, name: string): readonly string[]
}

/** A kind of lock in the simulation: one row of its family is all that a new one needs. */
export interface SimKind {
  readonly name: string
  readonly reentrant: boolean
  /** Nobody is told of its releases; how long a waiter may take to notice one, ms. */
  readonly patience?: number
  /** Its holds have fencing tokens. */
  readonly fenced?: boolean
  /** Many may have it at a time: then it has a side that is shared. */
  readonly shared?: true
  /** So many may have it at a time, and each is an owner of its own; they are there before anybody comes, and stay. */
  readonly permits?: number
  open(client: Client, name: string, shared: boolean): Lock
  /** Makes it, or makes it anew: whoever had it has it no longer. Default: nothing is there where nobody has it. */
  make?(redis: MemoryServer, name: string): void
  /** The channel on which releases are published. */
  channel?(name: string): string
  /** What on the server others would not understand. */
  malformed?(redis: MemoryServer, name: string): string | undefined
  /** Who has it on the server now, by wire owner; `undefined` where the server keeps none. */
  holders(redis: MemoryServer, name: string): readonly string[]
  /** How many are granted and not confirmed: nobody has them, and nobody else can. */
  onTrial?(redis: MemoryServer, name: string): number
  /** Whose last millisecond it is: they count as holders no more, but nobody else can come in, and they may still go on. */
  ending?(redis: MemoryServer, name: string): readonly string[]
  /** Who waits for it stands in a line on the server. */
  readonly fair: boolean
  /** Default: the fair lock's. */
  readonly line?: LineKeys
  /** Each process that waits for its permits stands in this line. */
  readonly permitsLine?: PermitsLineKeys
  /** Its processes connect with these. */
  readonly options?: ClientOptions
}
