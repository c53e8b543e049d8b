import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { lockAcquire, lockRelease } from '#src/lua/scripts.gen.js'
import { versionOf } from '../support/paths.js'
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
    const acquire = async (key: string, channel: string) => {
      const owner = `${id}:${(owners += 1)}`
      if ((await client.evalsha(lockAcquire.sha, 1, key, owner, lease)) !== null) throw new Error('taken')
      return { release: () => client.evalsha(lockRelease.sha, 1, key, owner, channel, 'PUBLISH') }
    }
    return {
      lock: (_kind, key) => ({ acquire: () => acquire(key, `redisson_lock__channel:{${key}}`) }),
      troubles: () => 0,
      intact: () => true,
      close: () => client.disconnect(),
    }
  },
})

export const raw = rawWith('raw', false)
export const rawPipelined = rawWith('raw, auto-pipelining', true)
