import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientOptions, Lock, OwnedLock, Owner } from 'holdfast'
import { connect, DeadlockError, NotOwnerError } from 'holdfast'
import type { Redis } from 'ioredis'
import { confirmed, fairListeners, keyedListeners, linedListeners } from './names.js'
import type { Kind } from './java-lock.js'
import { type Redisson, JavaError } from './redisson.js'

/** What both sides can do with a lock, in Redisson's words. */
const OPERATIONS = [
  'lock',
  'tryLock',
  'unlock',
  'forceUnlock',
  'isLocked',
  'isHeld',
  'holdCount',
  'remainTimeToLive',
] as const

type Operation = (typeof OPERATIONS)[number]

/** One party of a comparison: one client, one thread of it. */
export interface Actor {
  readonly side: 'java' | 'node'
  /** What its owners begin with on the wire. */
  readonly id: string
  /** What came of it: a value, or the name of an error. */
  run(name: string, operation: string, args: readonly number[]): Promise<unknown>
  close(): Promise<void>
}

/** One kind of object on both sides. */
export interface Compared {
  readonly kind: Kind | 'readWrite'
  readonly operations: readonly string[]
  /** How many wait for it and would hear of their turn. */
  readonly listeners: (redis: Redis, name: string) => Promise<number>
  /** Waits until what is done behind a caller's back is done. */
  readonly settled?: (redis: Redis, name: string) => Promise<void>
  /** Steps by which who waits may have it. */
  readonly frees: RegExp
  java(redisson: Redisson): Actor
  node(url: string, options?: ClientOptions): Promise<Actor>
}

/** One kind of lock on both sides. */
export interface LockKind extends Pick<Compared, 'listeners' | 'settled'> {
  readonly kind: Kind
  readonly ours: (client: Client, name: string) => Lock
}

export type BothSides = LockKind & Compared

export const locks = (kind: LockKind): BothSides => ({
  ...kind,
  operations: OPERATIONS,
  frees: /unlock$/i,
  java: (redisson) => javaActor(redisson, kind),
  node: (url, options) => nodeActor(url, kind, options),
})

export const PLAIN = locks({
  kind: 'plain',
  ours: (client, name) => client.lock(name),
  listeners: linedListeners,
  settled: confirmed,
})

export const NON_REENTRANT = locks({
  kind: 'nonReentrant',
  ours: (client, name) => client.nonReentrantLock(name),
  listeners: linedListeners,
  settled: confirmed,
})

export const FAIR = locks({
  kind: 'fair',
  ours: (client, name) => client.fairLock(name),
  listeners: fairListeners,
  settled: confirmed,
})

export const NON_REENTRANT_FAIR = locks({
  kind: 'nonReentrantFair',
  ours: (client, name) => client.nonReentrantFairLock(name),
  listeners: fairListeners,
  settled: confirmed,
})

export const SPIN = locks({
  kind: 'spin',
  ours: (client, name) => client.spinLock(name),
  // Nobody is told: who waits asks again and again.
  listeners: () => Promise.resolve(Infinity),
})

/** With the token of whoever holds it. */
export const FENCED: Compared = ((): Compared => {
  const both = locks({
    kind: 'fenced',
    ours: (client, name) => client.fencedLock(name),
    listeners: linedListeners,
    settled: confirmed,
  })
  const withToken = (actor: Actor, token: (name: string) => Promise<unknown>): Actor => ({
    ...actor,
    run: (name, operation, args) => (operation === 'getToken' ? token(name) : actor.run(name, operation, args)),
  })
  return {
    ...both,
    operations: [...both.operations, 'getToken'],
    java: (redisson) => withToken(both.java(redisson), (name) => redisson.lock('fenced', name).call('getToken', [])),
    async node(url, options) {
      const client = await connect({ ...options, url, presence: false })
      const actor = ownerActor(client, client.owner(), both.ours)
      return withToken(actor, async (name) => Number((await client.fencedLock(name).inspect()).token ?? 0))
    },
  }
})()

/** These keys of a group. */
export const keyed = (...keys: readonly string[]): BothSides =>
  locks({
    kind: `keyed:${keys.join()}`,
    ours: (client, name) => client.keyedLock(name, keys),
    listeners: keyedListeners,
    settled: confirmed,
  })

/** The same mistake has the same name on both sides; Redisson has one class for two of them. */
const errorName = (error: unknown, operation: string): string => {
  if (error instanceof NotOwnerError) return 'not owner'
  if (error instanceof DeadlockError) return 'held already'
  if (!(error instanceof JavaError)) return error instanceof Error ? error.name : String(error)
  if (error.type !== 'IllegalMonitorStateException') return error.message
  return operation === 'unlock' ? 'not owner' : 'held already'
}

const outcome = async (promise: Promise<unknown>, operation: string): Promise<unknown> => {
  try {
    return (await promise) ?? 'done'
  } catch (error) {
    return errorName(error, operation)
  }
}

/** A real thread, and Redisson's blocking methods. */
const javaActor = (redisson: Redisson, { kind }: LockKind): Actor => ({
  side: 'java',
  id: redisson.id,
  run(name, operation, args) {
    const lock = redisson.lock(kind, name)
    const thread = `actor of ${redisson.label}`
    const [first, second] = args
    const calls: Record<Operation, () => Promise<unknown>> = {
      lock: () => lock.lock(thread, first),
      tryLock: () => lock.tryLock(thread, first, second),
      unlock: () => lock.unlock(thread),
      forceUnlock: () => lock.forceUnlock(),
      isLocked: () => lock.isLocked(),
      isHeld: () => lock.isHeld(thread),
      holdCount: () => lock.holdCount(thread),
      remainTimeToLive: () => lock.remainTimeToLive(),
    }
    return outcome(calls[operation as Operation](), operation)
  },
  close: () => redisson.shutdown(),
})

export const ownerActor = (client: Client, owner: Owner, ours: LockKind['ours']): Actor => ({
  side: 'node',
  id: client.id,
  run(name, operation, args) {
    const lock: OwnedLock = ours(client, name).for(owner)
    const call = lock[operation as Operation] as (...args: number[]) => Promise<unknown>
    return outcome(call.apply(lock, [...args]), operation)
  },
  close: () => client.close(),
})

const nodeActor = async (url: string, { ours }: LockKind, options?: ClientOptions): Promise<Actor> => {
  const client = await connect({ ...options, url, presence: false })
  return ownerActor(client, client.owner(), ours)
}

/** Waits until so many clients listen, and a little longer: they ask once more before they sleep. */
export const listened = async (count: () => Promise<number>, wanted: number): Promise<void> => {
  const end = performance.now() + 10_000
  while ((await count()) < wanted) {
    if (performance.now() > end) throw new Error('nobody listens')
    await sleep(5)
  }
  await sleep(60)
}
