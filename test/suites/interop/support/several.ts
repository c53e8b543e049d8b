import type { Client, Lock } from 'holdfast'
import { connect } from 'holdfast'
import type { Redis } from 'ioredis'
import { type Actor, type Compared, locks, ownerActor } from './actors.js'
import { confirmed, linedListeners } from './names.js'

const MEMBERS = {
  plain: (client: Client, name: string): Lock => client.lock(name),
  fair: (client: Client, name: string): Lock => client.fairLock(name),
  write: (client: Client, name: string): Lock => client.readWriteLock(name).write,
} as const

export type Member = keyof typeof MEMBERS

const PLAIN = locks({ kind: 'plain', ours: MEMBERS.plain, listeners: () => Promise.resolve(0) })

const SINGLE = /^member(\w+)$/

/** `memberLock 1`: what is done to the second of them alone, a plain one, by the same owner. */
const withMembers = (several: Actor, single: Actor): Actor => ({
  ...several,
  run(name, operation, args) {
    const step = SINGLE.exec(operation)?.[1]
    if (step === undefined) return several.run(name, operation, args)
    const [index, ...rest] = args
    return single.run(`${name}:${index}`, step.charAt(0).toLowerCase() + step.slice(1), rest)
  },
})

/** Redisson's has no more than these: it is not asked who holds it, nor taken by force. */
const OPERATIONS = ['lock', 'tryLock', 'unlock', 'memberLock', 'memberUnlock', 'memberForceUnlock', 'memberIsHeld']

/** All of several locks, or most of them: one of each of these kinds, on one server. */
export const several = (which: 'multi' | 'red', ...members: readonly Member[]): Compared => {
  const both = locks({
    kind: `${which}:${members.join()}`,
    ours: (client, name) => {
      const each = members.map((kind, index) => MEMBERS[kind](client, `${name}:${index}`))
      return which === 'multi' ? client.multiLock(...each) : client.redLock(...each)
    },
    // Who waits for it listens at a member, and at another one after a while; of a majority ours asks again and again.
    listeners: async (redis: Redis, name: string) => {
      if (which === 'red') return Infinity
      const counts = await Promise.all(members.map((_, index) => linedListeners(redis, `${name}:${index}`)))
      return counts.reduce((sum, count) => sum + count, 0)
    },
  })
  return {
    ...both,
    operations: OPERATIONS,
    frees: /unlock/i,
    async settled(redis, name) {
      for (const index of members.keys()) await confirmed(redis, `${name}:${index}`)
    },
    java: (redisson) => withMembers(both.java(redisson), PLAIN.java(redisson)),
    async node(url, options) {
      const client = await connect({ ...options, url, presence: false })
      const owner = client.owner()
      return withMembers(ownerActor(client, owner, both.ours), ownerActor(client, owner, PLAIN.ours))
    },
  }
}
