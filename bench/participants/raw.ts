import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { lockAcquire, lockRelease } from '#src/lua/scripts.gen.js'
import { bareLock } from './bare-lock.js'
import { versionOf } from '../base/paths.js'
import type { Participant } from './participant.js'

/** The floor: the scripts that ship, through the bare Redis client, with no library between. */
const rawWith = (name: string, enableAutoPipelining: boolean): Participant => ({
  name,
  family: 'raw',
  file: 'bench/participants/raw.ts',
  setup: `ioredis, ${enableAutoPipelining ? 'enableAutoPipelining' : 'default options'}; evalsha of our own scripts`,
  kinds: ['lock'],
  waits: false,
  memory: false,
  renews: false,
  keyOf: (name) => name,
  direct: [],
  version: () => versionOf('node_modules/ioredis'),
  async open(url, lease = 30_000) {
    const client = new Redis(url, { enableAutoPipelining })
    for (const { text } of [lockAcquire, lockRelease]) await client.script('LOAD', text)
    const id = randomUUID()
    let owners = 0
    const acquire = async ({ take, give }: ReturnType<typeof bareLock>) => {
      const owner = `${id}:${(owners += 1)}`
      const taking = take(owner, lease)
      if ((await client.evalsha(lockAcquire.sha, taking.keys.length, ...taking.keys, ...taking.args)) !== null)
        throw new Error('taken')
      const giving = give(owner)
      return {
        release: () => client.evalsha(lockRelease.sha, giving.keys.length, ...giving.keys, ...giving.args),
      }
    }
    return {
      lock: (_kind, key) => {
        const lock = bareLock(key)
        return { acquire: () => acquire(lock) }
      },
      troubles: () => 0,
      intact: () => true,
      close: () => client.disconnect(),
    }
  },
})

export const raw = rawWith('raw', false)
export const rawPipelined = rawWith('raw, auto-pipelining', true)
