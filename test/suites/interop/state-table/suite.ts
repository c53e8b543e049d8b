import assert from 'node:assert/strict'
import { after, describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientOptions } from 'holdfast'
import type { Redis } from 'ioredis'
import { fairCall, fairQueue } from '#src/keys.js'
import { seeded } from '../../../support/random.js'
import { leftOut } from '../../../support/sample.js'
import type { Actor, Compared } from '../support/actors.js'
import { type Arena, arena } from '../support/arena.js'
import { differences, play, type Program, type Same, sameStep, type Seen, stepsOf } from '../support/programs.js'
import { Spy } from '../support/spy.js'

/** On which side each party of a program is, in the order of their labels. */
export type Cast = readonly Actor['side'][]

/** `jnjn`: W and Y are Redisson's, X and Z ours. */
export const cast = (sides: string): Cast => Array.from(sides, (side) => (side === 'j' ? 'java' : 'node'))

const LABELS = ['W', 'X', 'Y', 'Z']
export const CASTS: readonly Cast[] = ['nnnn', 'jnjn', 'njnj'].map(cast)
const ALL_JAVA: Cast = cast('jjjj')

/** One kind of object, and what is done with it: by Redisson, by us, and by both in turn. */
export interface Row {
  readonly both: Compared
  readonly programs: Readonly<Record<string, Program>>
  /** Forms of the name of those programs; its N is another one each time. */
  readonly names?: Readonly<Record<string, readonly string[]>>
  /** Steps drawn by lot, of which none waits. */
  readonly drawn?: (seed: number) => Program
  readonly casts?: readonly Cast[]
  /** Of our clients. */
  readonly ours?: ClientOptions
  readonly same?: Same
  /** Operations that no step has, for want of something on the other side. */
  readonly without?: readonly string[]
  /** Redisson's private notes of releases: some versions leave them until they expire. */
  readonly latches?: 'go' | 'stay'
  /** Another row has what is missing here. */
  readonly partly?: boolean
}

/** Draws of their own each time; the seed stands in the test's name. */
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

/** So many of these by X and Y, each as often as it stands here, and what frees everything at the end. */
export const steps =
  (length: number, choice: readonly string[], end: string) =>
  (seed: number): Program => {
    const random = seeded(seed)
    const among = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    return [...Array.from({ length }, () => `${among(['X', 'Y'])} ${among(choice)}`), end].join('; ')
  }

let names = 0

/** The parties: for each label one of Redisson's and one of ours, made when first needed. */
export class Company {
  readonly #made = new Map<string, Promise<Actor>>()

  constructor(readonly row: Row) {}

  async #actor({ java, url }: Pick<Arena, 'java' | 'url'>, label: string, side: Actor['side']): Promise<Actor> {
    const key = `${label} ${side}`
    const { both, ours } = this.row
    const made =
      this.#made.get(key) ??
      (side === 'java' ? java.another({ url }).then((redisson) => both.java(redisson)) : both.node(url, ours))
    this.#made.set(key, made)
    return made
  }

  async cast(arena: Pick<Arena, 'java' | 'url'>, program: Program, sides: Cast): Promise<Record<string, Actor>> {
    const labels = LABELS.filter((label) => new RegExp(`\\b${label} `).test(program))
    const actors = labels.map(async (label) => {
      const side = sides[LABELS.indexOf(label)] ?? 'java'
      return [label, await this.#actor(arena, label, side)] as const
    })
    return Object.fromEntries(await Promise.all(actors))
  }

  async close(): Promise<void> {
    for (const actor of await Promise.all(this.#made.values())) await actor.close()
  }
}

/** Fencing tokens are counted on for ever. */
const stays = ({ key }: Seen['keys'][number]): boolean => key.startsWith('redisson_lock_token:')

/** A program, and the form of the object’s name. */
interface Play {
  readonly program: Program
  readonly form: string
}

/** How long a free lock may have a line, ms. */
const ASLEEP = 20_000

/**
 * Redisson's waiter asks again when the lease should be over. In the very millisecond in which it ends, it is told less than
 * no time, which it takes for no limit: it sleeps until it is called. Whoever sleeps so is called; whether anybody did.
 */
const callSleepers = async (redis: Redis, name: string, over: AbortSignal): Promise<boolean> => {
  let called = false
  for (let since = Date.now(); !over.aborted; await sleep(500, undefined, { signal: over }).catch(() => undefined)) {
    const head = await redis.lindex(fairQueue(name), 0)
    if (head === null || (await redis.exists(name)) === 1) since = Date.now()
    else if (Date.now() - since > ASLEEP) {
      await redis.publish(fairCall(name, head), '0')
      called = true
    }
  }
  return called
}

/** Plays it on an object that nobody has. Everything is free at its end. */
const played = async (here: Arena, company: Company, sides: Cast, { program, form }: Play): Promise<Seen[]> => {
  const { redis, url } = here
  const name = form.replace('N', `n${(names += 1)}`)
  const { both, latches } = company.row
  const actors = await company.cast(here, program, sides)
  const spy = await Spy.start(redis, url)
  const over = new AbortController()
  const calling = callSleepers(redis, name, over.signal)
  try {
    const seen = await play(program, { redis, spy, name, actors, both, latches })
    const left = seen.at(-1)?.keys.filter((entry) => !stays(entry))
    assert.deepEqual(left, [], `${sides.join()}: a key is left`)
    over.abort()
    return (await calling) ? await played(here, company, sides, { program, form }) : seen
  } finally {
    over.abort()
    spy.end()
    await redis.flushall()
  }
}

/** What was seen otherwise than by Redisson alone, of each cast. */
export const compare = async (here: Arena, company: Company, program: Program, form = 'N'): Promise<string[]> => {
  const { casts = CASTS, same = sameStep } = company.row
  const expected = await played(here, company, ALL_JAVA, { program, form })
  const found: string[] = []
  for (const sides of casts) {
    const other = differences(expected, await played(here, company, sides, { program, form }), same)
    found.push(...other.map((text) => `${sides.join()}: ${text}`))
  }
  return found
}

/** The titles of a row's tests, with the program and the form of the name of each. */
const playsOf = ({ programs, names: forms = {}, drawn }: Row): (readonly [string, Program, string])[] => [
  ...Object.entries(programs).map(([title, program]) => [title, program, 'N'] as const),
  ...Object.entries(forms).flatMap(([title, some]) =>
    some.map((form) => [`${title}, named ${form}`, programs[title] ?? '', form] as const),
  ),
  ...(drawn === undefined ? [] : [[`drawn by lot, seed ${SEED}`, drawn(SEED), 'N'] as const]),
]

const operationsOf = (programs: readonly Program[]): Set<string> =>
  new Set(programs.flatMap(stepsOf).map((step) => step.split(' ')[1] ?? ''))

/** The same steps by Redisson alone, by us alone, and by both: the same results, keys, values, expiries and messages. */
export const stateTable = (version: string, rows: readonly Row[]): void => {
  const isOlder = version.startsWith('3.')
  void describe(`state beside Redisson ${version}`, () => {
    const enter = arena(version)
    for (const row of rows) {
      const { both, without = [], partly = false } = row
      void describe(both.kind, () => {
        const company = new Company(row)
        after(() => company.close())
        if (!partly)
          void test('each operation → in a program', () => {
            const tried = operationsOf(playsOf(row).map(([, program]) => program))
            assert.deepEqual(
              both.operations.filter((operation) => !tried.has(operation)),
              without,
            )
          })
        for (const [title, program, form] of playsOf(row)) {
          if (isOlder && leftOut(`${version} ${title}`)) continue
          void test(title, { timeout: 240_000 }, async (t: TestContext) => {
            const here = enter(t)
            if (here === undefined) return
            const found = await compare(here, company, program, form)
            assert.equal(found.length, 0, found.join('\n'))
            t.diagnostic(`${stepsOf(program).length} steps`)
          })
        }
      })
    }
  })
}
