import assert from 'node:assert/strict'
import type { Hold, Lock, Owner } from 'holdfast'
import { AcquireTimeoutError, NotOwnerError } from 'holdfast'
import { semaphoreChannel, slotOf } from '#src/keys.js'
import { fieldOf } from '#src/sync/keyed-lock/field-of-key.js'
import type { Client, Options, Scenario, Word, World } from '../../../support/engines.js'
import type { Lines } from './lines.js'

/** A row of the table: what a kind of lock does differently. */
export interface LockKind {
  readonly name: string
  /** Whether one owner may take it again. */
  readonly reentrant: boolean
  make(client: Client, name: string): Lock
  /** Where a release is told to all. */
  channel(name: string): string
  /** Waiters stand in a line on the server, and nobody but the next one is told. */
  readonly fair?: boolean
  /** Who waits stands in a line on the server, of whatever kind. */
  readonly queues?: boolean
  /** How long a waiter may take to notice that it is free, ms: nobody tells it. */
  readonly patience?: number
  /** Its holds have tokens, counted by a key that stays. */
  readonly fenced?: boolean
  /** Its clients are connected with these. */
  readonly options?: Partial<Options>
  /** It goes its own way through the core, and not only by scripts of its own: it is tried on every clock. */
  readonly whole?: boolean
  /** It is made of locks of other kinds: what it has is theirs. */
  readonly several?: boolean
  /** Default: exclusive. */
  readonly mode?: 'read' | 'write'
  /** Redisson's tests of it have lines of their own. */
  readonly lines?: Lines
  /** It is taken by these keys of a group, each of which has an owner and an end of its own. */
  readonly keys?: readonly string[]
}

/**
 * One part of the contract: adds its tests for one kind on one engine. `excludes` adds one for which two holds at a time
 * must be impossible: nothing where the lock is shared.
 */
export type Part = (kind: LockKind, scenario: Scenario, excludes: Scenario) => void

export const NOT_A_DURATION: readonly unknown[] = [0, -1, NaN, Infinity, -Infinity, 1.5, '1000', 10n, null, {}, true]

/** A watchdog time that a loaded machine can keep. */
export const SHORT = 2400

/** How long a call takes, from before it begins. */
export const timed = async <T>(world: World, call: () => Promise<T>): Promise<{ value: T; ms: number }> => {
  const begun = world.now()
  let ended = NaN
  const value = await world.run(
    call().finally(() => {
      ended = world.now()
    }),
  )
  return { value, ms: ended - begun }
}

export const lasted = (world: World, ms: number, least: number, most = least): void => {
  assert.ok(ms >= least - 2, `took ${ms} ms, at least ${least} expected`)
  assert.ok(ms <= most + world.slack + world.patience, `took ${ms} ms, at most ${most} expected`)
}

/** A promise that must not be settled yet. */
export const watch = <T>(promise: Promise<T>): { readonly settled: boolean; readonly promise: Promise<T> } => {
  const seen = { settled: false, promise }
  const settle = (): void => {
    seen.settled = true
  }
  promise.then(settle, settle)
  return seen
}

export const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail('should have been rejected')
}

export const isBadArgument = (error: unknown, argument: string, value: unknown): true => {
  assert.ok(
    error instanceof TypeError || error instanceof RangeError,
    `not a TypeError or RangeError: ${String(error)}`,
  )
  assert.ok(error.message.includes(argument), `'${error.message}' does not name ${argument}`)
  const shown = typeof value === 'object' && value !== null ? '' : String(value)
  assert.ok(error.message.includes(shown), `'${error.message}' does not show ${shown}`)
  return true
}

export const isNotOwner = (target: string) => (error: unknown) => {
  assert.ok(error instanceof NotOwnerError, String(error))
  assert.equal(error.code, 'NOT_OWNER')
  assert.equal(error.target, target)
  return true
}

export const isTimeout = (target: string) => (error: unknown) => {
  assert.ok(error instanceof AcquireTimeoutError, String(error))
  assert.equal(error.code, 'ACQUIRE_TIMEOUT')
  assert.equal(error.target, target)
  return true
}

/** Who is inside, and a counter in the server that is read, awaited and written: it loses counts without exclusion. */
export class Inside {
  #inside = 0
  most = 0
  rounds = 0

  constructor(
    readonly world: World,
    readonly key: string,
  ) {}

  async visit(ms: number): Promise<void> {
    this.#inside += 1
    this.rounds += 1
    this.most = Math.max(this.most, this.#inside)
    const seen = Number((await this.world.raw('GET', this.key)) ?? 0)
    await this.world.pause(ms)
    await this.world.raw('SET', this.key, seen + 1)
    this.#inside -= 1
  }

  async check(rounds: number): Promise<void> {
    assert.equal(this.most, 1, 'more than one inside')
    assert.equal(this.rounds, rounds)
    assert.equal(Number(await this.world.raw('GET', this.key)), rounds, 'an update was lost')
    await this.world.raw('DEL', this.key)
  }
}

/** Who holds it, and how often. */
export const fieldsOf = async (world: World, name: string): Promise<Record<string, number>> => {
  const flat = (await world.raw('HGETALL', name)) as string[]
  const fields: Record<string, number> = {}
  for (let i = 0; i < flat.length; i += 2) if (flat[i] !== 'mode') fields[String(flat[i])] = Number(flat[i + 1])
  // Of keys of a group, `<key>:<owner>:lock_count` tells.
  const counts = Object.entries(fields).flatMap(([field, count]) => {
    const owner = /^[^:]+:(.*):lock_count$/.exec(field)?.[1]
    return owner === undefined ? [] : [[owner, count] as const]
  })
  return counts.length > 0 ? Object.fromEntries(counts) : fields
}

export const pttl = async (world: World, name: string): Promise<number> => Number(await world.raw('PTTL', name))

export const exists = async (world: World, name: string): Promise<boolean> =>
  Number(await world.raw('EXISTS', name)) === 1

/** It is held, if a late renewal made it uncertain then not for long. */
export const held = async (world: World, hold: Hold): Promise<void> => {
  await world.eventually(() => hold.state !== 'uncertain', 5000)
  assert.equal(hold.state, 'held')
}

/** Somebody else's hold, written by hand. */
export const foreign = async (
  { mode, keys = [] }: LockKind,
  world: World,
  name: string,
  lease: number,
  owner = 'foreign:1',
): Promise<void> => {
  const [seconds = 0, micros = 0] = ((await world.raw('TIME')) as string[]).map(Number)
  const ends = seconds * 1000 + Math.floor(micros / 1000) + lease
  const own = (key: string): Word[] => {
    const field = fieldOf(key)
    return [field, owner, `${field}:${owner}:expire_time`, ends, `${field}:${owner}:lock_count`, 1]
  }
  const fields: Word[] = keys.length > 0 ? keys.flatMap(own) : [owner, 1]
  await world.raw('HSET', name, ...fields, ...(mode === undefined ? [] : ['mode', mode]))
  await world.raw('PEXPIRE', name, lease)
}

/** Where slots are, some names are of two, as with Redisson. */
export const isName = (world: World, name: string): boolean =>
  !world.slotted || slotOf(name) === slotOf(semaphoreChannel(name))

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

export const releaseAll = async (world: World, holds: readonly (Hold | undefined)[]): Promise<void> => {
  for (const hold of holds) if (hold !== undefined) assert.equal(await world.run(hold.release()), true)
}

export type { Hold, Lock, Owner, World }
