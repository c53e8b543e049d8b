import type { MemoryServer } from '../../../engine/memory/server.js'
import type { Random } from '../../random.js'
import type { World } from '../world.js'

/** Where the stranger meddles, and who is told of it. */
export interface Meddling {
  readonly world: World
  readonly redis: MemoryServer
  readonly locks: readonly string[]
  readonly random: Random
  /** Whether the key's expiry is all that says how long somebody has it: then that changes, too. */
  readonly retimes: boolean
  /** What a history that is made smaller leaves out. */
  readonly may: (id: string) => boolean
  readonly note: (who: string, text: string) => void
  /** From now on what is at this key says nothing of who has the lock; or it may again. */
  readonly meddled: (name: string, foreign: boolean) => void
}

const OTHERS = '5f1b2c3d-0a1b-4001-8001-0a1b2c3d4e5f:41'
const FIELD = 'abcdefghijklmnopqrstuv'

/** What other programs, and other kinds of lock, may have under a name: a command, and what follows the key. */
export const LAYOUTS: readonly (readonly [string, ...string[]])[] = [
  ['SET', 'text'],
  ['SET', '9007199254740993'],
  ['RPUSH', OTHERS, ''],
  ['SADD', OTHERS],
  ['ZADD', 'inf', OTHERS],
  ['HSET', 'name', 'Ann', 'mode', 'dark'],
  ['HSET', 'rate', '5', 'interval', '1000', 'type', '0'],
  ['HSET', 'mode', 'read', OTHERS, '1000000000'],
  ['HSET', 'mode', 'write', `${OTHERS}:write`, 'inf', OTHERS, '1e308'],
  ['HSET', FIELD, OTHERS, `${FIELD}:${OTHERS}:expire_time`, '99999999999999', `${FIELD}:${OTHERS}:lock_count`, 'nan'],
]

const DEEDS = ['deletes', 'overwrites', 'overwrites', 'cuts short', 'prolongs'] as const

/**
 * Somebody who may write every key and knows nothing of locks. It is to cost what SECURITY.md says: who held what it touches
 * is told in time, others may have it; nobody waits for ever, and no script runs for long.
 */
export const meddle = ({ world, redis, locks, random, retimes, may, note, meddled }: Meddling): void => {
  const meddlesWith = new Set<string>()
  const deed = (name: string, does: (typeof DEEDS)[number]): void => {
    const ms = random.between(1, 400)
    meddlesWith.add(name)
    const layout = random.pick(LAYOUTS)
    const [command, ...words] = layout
    note('stranger', `${does} '${name}'${does === 'overwrites' ? `: ${layout.join(' ').slice(0, 60)}` : ''}`)
    const overwrites = does === 'overwrites'
    if (does === 'cuts short') redis.execute(['PEXPIRE', name, String(Math.ceil(ms / 10))])
    else if (does === 'prolongs') redis.execute(['PEXPIRE', name, String(Math.ceil(ms * 10))])
    else redis.execute(['DEL', name])
    if (overwrites) redis.execute([command, name, ...words])
    meddled(name, overwrites)
    // A shorter expiry takes the lock from its holder when it comes.
    world.in(ms, () => {
      meddlesWith.delete(name)
      if (overwrites) redis.execute(['DEL', name])
      if (overwrites || does === 'cuts short') meddled(name, false)
    })
  }
  for (let i = 1 + random.below(5); i > 0; i--) {
    const [at, name, does] = [
      random.between(0, 3000),
      random.pick(locks),
      random.pick(retimes ? DEEDS : DEEDS.slice(0, 3)),
    ]
    world.at(at, () => {
      if (!meddlesWith.has(name) && may(`stranger ${i} ${does}`)) deed(name, does)
    })
  }
}
