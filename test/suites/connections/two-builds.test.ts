import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fencingCounter } from '#src/keys.js'
import { redisEngine, started } from '../../support/engines.js'
import { Party } from '../../support/fair-party.js'
import { lastTag, otherBuild, type OtherBuild } from '../../support/other-build.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const SECONDS = 4
const STAY = 5
const KINDS = ['lock', 'fairLock', 'fencedLock', 'readWriteLock'] as const

const tag = lastTag()

void describe(`two processes of this build and two of ${tag ?? 'a copy of it, as there is no tag yet'}`, () => {
  let other: OtherBuild
  before(async () => {
    other = await otherBuild(tag)
  })
  after(() => other.remove())
  for (const kind of KINDS) {
    test(`${kind} → one at a time, each has its turns, nothing is left`, { timeout: 120_000 }, async (t) => {
      let server: RedisServer | undefined
      const start = async (): Promise<void> => {
        server = await startRedis()
      }
      const skip = await started({ ...redisEngine, start })
      if (server === undefined) return t.skip(skip ?? 'no server')
      const party = new Party(server.url, 'shared', kind)
      try {
        const program = other.program('fair-process.js')
        const builds = [undefined, undefined, program, program]
        for (const [place, one] of builds.entries()) {
          await party.invite(`p${place}`, one === undefined ? {} : { program: one })
        }
        const end = Date.now() + 1000 * SECONDS
        await Promise.all(party.members.map((member) => party.visits(member, STAY, () => Date.now() > end)))
        const turns = party.members.map(({ name }) => party.order.filter((call) => call.startsWith(`${name}/`)).length)
        assert.ok(Math.min(...turns) >= 10, String(turns))
        // The counter of its tokens is meant to stay.
        await party.redis.del(fencingCounter('shared'))
        await party.check()
      } finally {
        await party.close()
        await server.stop()
      }
    })
  }
})
