import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Actor, BothSides } from './actors.js'
import { javaActor, nodeActor } from './actors.js'
import { type Arena, arena } from './arena.js'
import { differences, lockChannel, play, type Program, type Seen } from './programs.js'

let names = 0

const actor = async ({ java, url }: Arena, side: string, both: BothSides): Promise<Actor> =>
  side === 'java' ? javaActor(await java.another({ url }), both) : nodeActor(url, both)

interface Play {
  readonly program: Program
  /** The lock's name; its N is another one each time. */
  readonly form: string
}

/** Plays a program; the cast says on which side X and Y are. Everything is free at its end. */
const played = async (arena: Arena, both: BothSides, cast: string, { program, form }: Play): Promise<Seen[]> => {
  const { redis, spy } = arena
  const name = form.replace('N', `n${(names += 1)}`)
  const [first = '', second = ''] = cast.split(' ')
  const actors = { X: await actor(arena, first, both), Y: await actor(arena, second, both) }
  await spy.take()
  try {
    const seen = await play(program, { redis, spy, name, channel: lockChannel(name), actors })
    assert.deepEqual(seen.at(-1)?.keys, [], `${cast}: a key is left`)
    return seen
  } finally {
    await Promise.all(Object.values(actors).map((one) => one.close()))
    await redis.flushall()
  }
}

/** The same steps by Redisson alone, by us alone, and by both: the same results, keys, values, expiries and messages. */
export const stateSuite = (
  version: string,
  both: BothSides,
  { programs, names: forms = ['N'] }: { programs: Readonly<Record<string, Program>>; names?: readonly string[] },
): void => {
  void describe(`state of a ${both.kind} lock, beside Redisson ${version}`, () => {
    const enter = arena(version)
    for (const form of forms) {
      for (const [title, program] of Object.entries(programs)) {
        void test(`${title}${form === 'N' ? '' : `, named ${form}`}`, { timeout: 120_000 }, async (t) => {
          const here = enter(t)
          if (here === undefined) return
          const expected = await played(here, both, 'java java', { program, form })
          for (const cast of ['node node', 'java node', 'node java']) {
            const found = differences(expected, await played(here, both, cast, { program, form }))
            assert.equal(found.length, 0, `${cast}:\n${found.join('\n')}`)
          }
        })
      }
    }
  })
}
