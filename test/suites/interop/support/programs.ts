import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type Actor, type Compared, listened } from './actors.js'
import { type Entry, keySpace, labelled } from './key-space.js'
import type { Spy } from './spy.js'

/**
 * What two parties do, one step after the other: `X lock 10000; Y lock &; X unlock; Y wait; Y unlock`.
 * `&`: it is left waiting, until `wait` tells what came of it. `sleep 500` lets time pass.
 */
export type Program = string

/** One step, and all that can be seen after it. */
export interface Seen {
  readonly step: string
  readonly result: unknown
  readonly keys: readonly Entry[]
  readonly messages: readonly string[]
  /** When it was looked at: ms since the epoch. */
  readonly at: number
}

export interface Stage {
  readonly redis: Redis
  readonly spy: Spy
  /** The lock's name, other than in the programs before. */
  readonly name: string
  readonly actors: Readonly<Record<string, Actor>>
  readonly both: Compared
  /** See `keySpace`. */
  readonly latches?: 'go' | 'stay' | undefined
}

export const stepsOf = (program: Program): string[] =>
  program
    .split(';')
    .map((step) => step.trim())
    .filter(Boolean)

/** A name with braces has an exclamation mark behind it there. */
const GRANT = /^holdfast_(?:line|keyed)_grant:(.*?)!?:[0-9a-f-]{36}(?::[0-9a-f]{16})? (.*)$/

/** What ours tell one another of a plain lock where Redisson would tell all of its release: the same, unless that was told, too. */
const asReleases = (messages: readonly string[]): string[] => {
  const told = messages.filter((message) => !GRANT.test(message))
  for (const message of messages) {
    const [, tag, text] = GRANT.exec(message) ?? []
    const release = `redisson_lock__channel:${tag} 0`
    if (tag !== undefined && text !== '0' && !told.includes(release)) told.push(release)
  }
  return told
}

/** Runs a program, and says what was seen after each step; the lock's name is `N` in it. */
export const play = async (program: Program, stage: Stage): Promise<Seen[]> => {
  const { redis, spy, name, actors, both, latches } = stage
  const labels = new Map(Object.entries(actors).map(([label, { id }]) => [id, label]))
  const waiting = new Map<string, Promise<unknown>>()
  const anonymous = (text: string): string => text.replaceAll(name, 'N')
  const named = (text: string): string =>
    [...labels].reduce((rest, [id, label]) => rest.replaceAll(id, label), anonymous(labelled(text, labels)))
  const look = async (): Promise<Entry[]> => {
    const entries = await keySpace(redis, labels, latches)
    return entries.map((entry) => ({ ...entry, key: named(entry.key) })).sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  const take = async (step: string): Promise<unknown> => {
    const [who = '', what = '', ...rest] = step.split(' ')
    if (who === 'sleep') return sleep(Number(what))
    const actor = actors[who]
    assert.ok(actor !== undefined, step)
    if (what === 'wait') return waiting.get(who)
    assert.ok(both.operations.includes(what), step)
    const aside = rest.at(-1) === '&'
    const result = actor.run(name, what, (aside ? rest.slice(0, -1) : rest).map(Number))
    if (!aside) return result
    waiting.set(who, result)
    await listened(() => both.listeners(redis, name), waiting.size)
    return 'waits'
  }

  const seen: Seen[] = []
  for (const step of stepsOf(program)) {
    const result = await take(step)
    if (step.endsWith(' wait')) waiting.delete(step.split(' ')[0] ?? '')
    // Freed while another waits: it has it any moment now.
    const racing = waiting.size > 0 && both.frees.test(step)
    if (!racing) await both.settled?.(redis, name)
    const keys = racing ? [] : await look()
    seen.push({ step, result, keys, messages: asReleases(await spy.take()).map(named), at: Date.now() })
  }
  return seen
}

/** How far two expiries may be apart: what a loaded machine may need for the steps since they were set, and less than leases differ. */
const TOLERANCE = 8000

export const near = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'number' && typeof b === 'number' && a > 2 && b > 2 && Math.abs(a - b) <= TOLERANCE)

const show = ({ step, result, keys, messages }: Seen): string => JSON.stringify({ step, result, keys, messages })

/** Where a lease ran out: our client tells the others so, where Redisson lets them find out. */
const MAY_TELL_MORE = /^sleep|wait$/

const sameMessages = (a: Seen, b: Seen): boolean =>
  a.messages.join() === b.messages.join() ||
  (MAY_TELL_MORE.test(a.step) && a.messages.every((m) => b.messages.includes(m)))

export const sameEntries = (a: Seen, b: Seen): boolean =>
  a.keys.length === b.keys.length &&
  a.keys.every((entry, index) => {
    const other = b.keys[index]
    const plain = (one: Entry | undefined): string => JSON.stringify({ ...one, ttl: 0 })
    return plain(entry) === plain(other) && near(entry.ttl, other?.ttl)
  })

/** Whether the same was seen after a step; `before`: after the step before. */
export type Same = (expected: Seen, actual: Seen, before: Seen | undefined) => boolean

export const sameStep: Same = (a, b) => near(a.result, b.result) && sameMessages(a, b) && sameEntries(a, b)

/** The steps after which something else was seen, as text. */
export const differences = (expected: readonly Seen[], actual: readonly Seen[], same: Same = sameStep): string[] =>
  expected.flatMap((step, index) => {
    const other = actual[index]
    return other !== undefined && same(step, other, expected[index - 1])
      ? []
      : [`${show(step)}\n  but was\n${other === undefined ? 'nothing' : show(other)}`]
  })
