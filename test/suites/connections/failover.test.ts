import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FencedHold } from 'holdfast'
import { connect, ReplicationError } from 'holdfast'
import type { CallEvent, HistoryEvent } from 'holdfast/testing'
import { checkHistory } from 'holdfast/testing'
import { rejection } from '../contract/lock/kind.js'
import { redisEngine, started } from '../../support/engines.js'
import { machineTime } from '../soak/log.js'
import { Party } from '../../support/fair-party.js'
import { mayStay } from '../../support/leftovers.js'
import { type ClusterNode, type RedisCluster, startCluster } from '../../support/redis-cluster.js'
import { startWatched, type Watched } from '../../support/redis-sentinel.js'
import { until } from '../../support/until.js'
import { assertNone } from '../../support/violations.js'

type Kind = 'lock' | 'fairLock' | 'fencedLock'

const MEMBERS = ['p0', 'p1', 'p2', 'p3']
const STAY = 15
/** Holds outlive a failover, which takes 2 to 6 s here. */
const WATCHDOG = 12_000

interface Outcome {
  readonly grants: readonly CallEvent[]
  /** How long nobody was granted it, at most, ms. */
  readonly gap: number
  readonly refused: number
  /** Holds that were not theirs any more when they were given back, and said so: what is known of each. */
  readonly lost: readonly string[]
  /** Holds that said that they can be trusted while another did. */
  readonly overlaps: number
}

const steps = (events: readonly HistoryEvent[], what: CallEvent['what']): CallEvent[] =>
  events.filter((event): event is CallEvent => 'call' in event && event.what === what).sort((a, b) => a.at - b.at)

/** Four processes come and go; something is done to the servers meanwhile, and they go on for a little after that. */
const contend = async (
  { url, server }: { readonly url: string; readonly server: string },
  kind: Kind,
  trouble: () => Promise<unknown>,
  { sync = true } = {},
): Promise<Outcome> => {
  const party = new Party(url, 'contended', kind, server)
  try {
    for (const name of MEMBERS) await party.invite(name, { watchdog: WATCHDOG, sync })
    let over = false
    const visits = party.members.map((member) => party.visits(member, STAY, () => over))
    await party.until(() => steps(party.events, 'granted').length >= 40)
    await trouble()
    const since = machineTime()
    // Each of them again, and a few of them more.
    await party.until(() => {
      const late = steps(party.events, 'granted').filter(({ at }) => at > since)
      return late.length >= 40 && new Set(late.map(({ process }) => process)).size === MEMBERS.length
    }, 90_000)
    over = true
    await Promise.all(visits)
    await Promise.all(party.members.map((member) => member.end()))
    return outcomeOf(party.events)
  } finally {
    await party.close()
  }
}

const outcomeOf = (events: readonly HistoryEvent[]): Outcome => {
  const violations = checkHistory(events, { limit: 1000 })
  const others = violations.filter(({ rule }) => rule !== 'exclusion')
  assertNone(others)
  const grants = steps(events, 'granted')
  const gaps = grants.slice(1).map(({ at }, i) => at - (grants[i]?.at ?? at))
  return {
    grants,
    gap: Math.max(...gaps),
    refused: steps(events, 'refused').length,
    lost: steps(events, 'lost').map(({ call }) => storyOf(events, call)),
    overlaps: violations.length - others.length,
  }
}

/** What is known of a call, and what others had meanwhile. */
const storyOf = (events: readonly HistoryEvent[], id: string): string => {
  const mine = events.filter((event) => 'call' in event && event.call === id)
  const [from = 0, to = 0] = [mine[0]?.at, mine.at(-1)?.at]
  return events
    .filter((event): event is CallEvent => 'call' in event && event.at >= from && event.at <= to)
    .sort((a, b) => a.at - b.at)
    .map(
      ({ at, what, call, until }) =>
        `${(at - from).toFixed(1)} ${call} ${what} ${until ? (until - at).toFixed(0) : ''}`,
    )
    .join('\n')
}

const shown = (what: string, { grants, gap, refused, lost, overlaps }: Outcome): void => {
  console.log(
    `${what}: ${grants.length} grants, the longest time without one ${gap.toFixed(0)} ms, ` +
      `${refused} calls refused, ${lost.length} holds reported lost, ${overlaps} overlaps`,
  )
}

const withCluster = (name: string, body: (cluster: RedisCluster) => Promise<void>): void => {
  test(name, { timeout: 300_000 }, async (t) => {
    let cluster: RedisCluster | undefined
    const start = async (): Promise<void> => {
      cluster = await startCluster({ replicas: true })
    }
    const skip = await started({ ...redisEngine, start })
    if (cluster === undefined) return t.skip(skip ?? 'no server')
    try {
      await body(cluster)
    } finally {
      await cluster.stop()
    }
  })
}

/** Its replica takes over. A master that is too busy to hand over in time gives that up, and is asked again. */
const failOver = async (cluster: RedisCluster, old: ClusterNode): Promise<void> => {
  const replica = cluster.replicas[cluster.nodes.indexOf(old)]
  let asked = -Infinity
  await until(async () => {
    if ((await cluster.ownerOf('contended')) !== old) return true
    if (performance.now() - asked > 7000) {
      asked = performance.now()
      await replica?.redis.call('CLUSTER', 'FAILOVER')
    }
    return false
  })
  await cluster.settled()
}

/** No key is left on any node that answers, but those that may stay. */
const assertEmpty = async ({ nodes, replicas }: RedisCluster): Promise<void> => {
  for (const { redis } of [...nodes, ...replicas].filter((node) => node.redis.status === 'ready')) {
    const keys = await redis.keys('*')
    assert.deepEqual(
      keys.filter((key) => !mayStay(key)),
      [],
    )
  }
}

void describe('four processes on one lock of a cluster', { concurrency: 1 }, () => {
  for (const kind of ['fencedLock', 'fairLock', 'lock'] as const) {
    withCluster(`${kind}: its slot moves from node to node → one at a time, nobody is forgotten`, async (cluster) => {
      const outcome = await contend(
        { url: cluster.url, server: cluster.nodes[0]?.server.url ?? '' },
        kind,
        async () => {
          for (const node of [cluster.nodes[1], cluster.nodes[2], cluster.nodes[0]]) {
            assert.ok(node !== undefined)
            // While both nodes know, the keys may be here, there, or some of each.
            if ((await cluster.ownerOf('contended')) !== node)
              await cluster.migrate('contended', node, () => sleep(300))
          }
        },
      )
      shown(`${kind}, a slot that moves`, outcome)
      assert.equal(outcome.overlaps, 0, 'overlaps')
      assert.deepEqual(outcome.lost, [])
      await assertEmpty(cluster)
    })
  }

  for (const kind of ['fencedLock', 'fairLock'] as const) {
    withCluster(`${kind}: CLUSTER FAILOVER → one at a time, no hold is lost`, async (cluster) => {
      const outcome = await contend(
        { url: cluster.url, server: cluster.nodes[0]?.server.url ?? '' },
        kind,
        async () => {
          await failOver(cluster, await cluster.ownerOf('contended'))
        },
      )
      shown(`${kind}, CLUSTER FAILOVER`, outcome)
      assert.equal(outcome.overlaps, 0, 'overlaps')
      assert.deepEqual(outcome.lost, [])
    })

    withCluster(`${kind}: its master is killed → one at a time, also afterwards`, async (cluster) => {
      const outcome = await contend(
        { url: cluster.url, server: cluster.nodes[0]?.server.url ?? '' },
        kind,
        async () => {
          const old = await cluster.ownerOf('contended')
          await cluster.kill(old)
          await cluster.settled()
        },
      )
      shown(`${kind}, its master killed`, outcome)
      assert.equal(outcome.overlaps, 0, 'overlaps')
    })
  }
})

void describe('what no replica has when its master dies', { concurrency: 1 }, () => {
  for (const sync of [true, false]) {
    const outcome = sync
      ? 'ReplicationError, and nobody had it'
      : 'had by two, with one token, until the first is told within a third of its lease'
    withCluster(`replicas.sync ${sync} → ${outcome}`, async (cluster) => {
      const options = { url: cluster.url, watchdog: 60_000, replicas: { sync, timeout: 300 } }
      const [one, other] = [await connect(options), await connect(options)]
      for (const client of [one, other]) client.on('error', () => undefined)
      const owner = await cluster.ownerOf('x')
      const replica = cluster.replicas[cluster.nodes.indexOf(owner)] ?? assert.fail()
      try {
        const before = await one.fencedLock('x').using(({ token }) => token)
        await owner.redis.wait(1, 5000)
        process.kill(replica.server.pid, 'SIGSTOP')
        // What is on its way to it would come, though its sender is dead.
        await owner.redis.call('CLIENT', 'KILL', 'TYPE', 'replica')
        let hold: FencedHold | undefined
        try {
          if (sync) assert.ok((await rejection(one.fencedLock('x').acquire())) instanceof ReplicationError)
          else hold = await one.fencedLock('x').acquire()
          await cluster.kill(owner)
        } finally {
          process.kill(replica.server.pid, 'SIGCONT')
        }
        await cluster.settled()
        // It has not heard yet who stands for the dead one.
        let next: FencedHold | undefined
        await until(async () => {
          next = await other
            .fencedLock('x')
            .acquire()
            .catch(() => undefined)
          return next !== undefined
        })
        assert.ok(next !== undefined)
        assert.equal(next.token, before + 1n)
        if (hold !== undefined) {
          assert.equal(hold.token, next.token)
          assert.ok(hold.remaining() > 0)
          await until(() => hold.lost, 60_000 / 3 + 5000)
        }
        assert.equal(await next.release(), true)
      } finally {
        await Promise.all([one.close(), other.close()])
      }
    })
  }
})

void describe('four processes on one lock by sentinels', { concurrency: 1 }, () => {
  for (const kind of ['fencedLock', 'fairLock'] as const) {
    test(`${kind}: the master is killed → one at a time, also afterwards`, { timeout: 300_000 }, async (t) => {
      let watched: Watched | undefined
      const skip = await started({ ...redisEngine, start: async () => void (watched = await startWatched(1)) })
      if (watched === undefined) return t.skip(skip ?? 'no server')
      const place = watched
      try {
        const outcome = await contend({ url: place.url, server: place.servers[0]?.url ?? '' }, kind, async () => {
          const old = await place.master()
          await old.stop()
          await place.movedFrom(old)
        })
        shown(`${kind}, the sentinels' master killed`, outcome)
        assert.equal(outcome.overlaps, 0, 'overlaps')
      } finally {
        await place.stop()
      }
    })
  }
})
