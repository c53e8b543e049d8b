import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { ClientOptions } from 'holdfast'
import type { Actor, Compared } from './actors.js'
import { type Arena, arena } from './arena.js'
import { differences, play, type Program, type Same, sameStep, type Seen } from './programs.js'
import { Spy } from './spy.js'

/** On which side each party of a program is, in the order of their labels. */
export type Cast = readonly Actor['side'][]

const LABELS = ['W', 'X', 'Y', 'Z']
const CASTS: readonly Cast[] = [
  ['node', 'node', 'node', 'node'],
  ['java', 'node', 'java', 'node'],
  ['node', 'java', 'node', 'java'],
]
const ALL_JAVA: Cast = ['java', 'java', 'java', 'java']

export interface StateSuite {
  readonly programs: Readonly<Record<string, Program>>
  /** Forms of the lock's name; its N is another one each time. */
  readonly names?: readonly string[]
  readonly casts?: readonly Cast[]
  /** Of our clients. */
  readonly ours?: ClientOptions
  readonly same?: Same
}

let names = 0

/** The parties: for each label one of Redisson's and one of ours, made when first needed. */
class Company {
  readonly #made = new Map<string, Promise<Actor>>()

  constructor(
    readonly both: Compared,
    readonly ours: ClientOptions | undefined,
  ) {}

  async #actor({ java, url }: Arena, label: string, side: Actor['side']): Promise<Actor> {
    const key = `${label} ${side}`
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const made =
      side === 'java'
        ? java.another({ url }).then((redisson) => this.both.java(redisson))
        : this.both.node(url, this.ours)
    this.#made.set(key, made)
    return made
  }

  async cast(arena: Arena, program: Program, cast: Cast): Promise<Record<string, Actor>> {
    const labels = LABELS.filter((label) => new RegExp(`\\b${label} `).test(program))
    const actors = labels.map(async (label) => {
      const side = cast[LABELS.indexOf(label)] ?? 'java'
      return [label, await this.#actor(arena, label, side)] as const
    })
    return Object.fromEntries(await Promise.all(actors))
  }

  async close(): Promise<void> {
    for (const actor of await Promise.all(this.#made.values())) await actor.close()
  }
}

/** A program, and the form of the lock's name. */
interface Play {
  readonly program: Program
  readonly form: string
}

/** Who waits asks again by the clock: what differs on a machine that stood still meanwhile does not differ each time. */
const RUNS = 3

/** Plays it on a lock that nobody has. Everything is free at its end. */
const played = async (here: Arena, company: Company, cast: Cast, { program, form }: Play): Promise<Seen[]> => {
  const { redis, url } = here
  const name = form.replace('N', `n${(names += 1)}`)
  const actors = await company.cast(here, program, cast)
  const spy = await Spy.start(redis, url)
  try {
    const seen = await play(program, { redis, spy, name, actors, both: company.both })
    assert.deepEqual(seen.at(-1)?.keys, [], `${cast.join()}: a key is left`)
    return seen
  } finally {
    spy.end()
    await redis.flushall()
  }
}

/** The same steps by Redisson alone, by us alone, and by both: the same results, keys, values, expiries and messages. */
export const stateSuite = (version: string, both: Compared, suite: StateSuite): void => {
  const { programs, names: forms = ['N'], casts = CASTS, ours, same = sameStep } = suite
  void describe(`state of a ${both.kind}${both.operations.includes('lock') ? ' lock' : ''}, beside Redisson ${version}`, () => {
    const company = new Company(both, ours)
    after(() => company.close())
    const enter = arena(version)
    for (const form of forms) {
      for (const [title, program] of Object.entries(programs)) {
        void test(`${title}${form === 'N' ? '' : `, named ${form}`}`, { timeout: 180_000 }, async (t) => {
          const here = enter(t)
          if (here === undefined) return
          let expected = await played(here, company, ALL_JAVA, { program, form })
          for (const cast of casts) {
            for (let run = 1; ; run += 1) {
              const found = differences(expected, await played(here, company, cast, { program, form }), same)
              if (found.length === 0) break
              assert.ok(run < RUNS, `${cast.join()}:\n${found.join('\n')}`)
              t.diagnostic(`${cast.join()}, run ${run}: ${found.join('\n')}`)
              expected = await played(here, company, ALL_JAVA, { program, form })
            }
          }
        })
      }
    }
  })
}
