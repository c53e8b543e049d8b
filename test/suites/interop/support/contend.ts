import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { checkHistory, type Stay } from '../../../support/history.js'
import { type History, linesOf, nodeWork, redissonsShare, staysOf } from './contention.js'
import type { Kind, WorkEvent, WorkOptions } from './java-lock.js'
import { now, type Redisson } from './redisson.js'

/** What each process does to it: what it is called in Java and here, and whether others of its role may be in as well. */
interface Role {
  readonly java: Kind
  readonly node: string
  readonly shared?: boolean
}

export interface Contended {
  readonly roles: readonly Role[]
  /** How many may be in at once. */
  readonly places?: number
  readonly work?: Partial<WorkOptions>
  /** What stays on the server. */
  readonly left?: readonly string[]
}

const alone = (kind: Kind): Contended => ({ roles: [{ java: kind, node: kind }] })
const counted = (kind: 'semaphore' | 'permits', work: Partial<WorkOptions> = {}): Contended => ({
  ...{ roles: [{ java: kind, node: kind }], places: 3, left: ['busy'], work },
})
const sides = (read: string, write: string, work: Partial<WorkOptions>): Contended => ({
  roles: [
    { java: 'read', node: read, shared: true },
    { java: 'write', node: write },
  ],
  work: { workers: 2, hold: [0, 3], pause: [1, 8], ...work },
})

/** Two processes of each side do each of these to one object. What an interrupted acquire of Redisson’s left is over with its lease. */
export const CONTENDED: Readonly<Record<string, Contended>> = {
  plain: { ...alone('plain'), work: { leases: [4000], aborts: 0.05, abortAfter: [0, 30] } },
  'plain, watchdogs': alone('plain'),
  nonReentrant: alone('nonReentrant'),
  spin: alone('spin'),
  fenced: alone('fenced'),
  keyed: {
    roles: [
      { java: 'keyed:a,b', node: 'keyed:b,c' },
      { java: 'keyed:b,d', node: 'keyed:a,b,c,d' },
    ],
    work: { workers: 2, leases: [20_000] },
  },
  'multi-lock of two': { roles: [{ java: 'multi:plain,plain', node: 'multi' }], work: { workers: 2 } },
  'red-lock of three': { roles: [{ java: 'red:plain,plain,plain', node: 'red' }], work: { workers: 2 } },
  readWrite: sides('read', 'write', { leases: [0, 4000] }),
  'fair read-write, beside Redisson’s ordinary one': sides('fairRead', 'fairWrite', { leases: [0, 4000] }),
  semaphore: counted('semaphore'),
  permits: counted('permits', { leases: [0, 10_000] }),
}

const DEFAULTS = { workers: 4, hold: [0, 3], pause: [0, 2], leases: [0], timeouts: 0.1, wait: [0, 30] } as const

const javaWork = async (redisson: Redisson, kind: Kind, options: WorkOptions): Promise<WorkEvent[]> => {
  const events: WorkEvent[] = []
  await redisson.lock(kind, 'busy').work(options, (event) => events.push(event))
  return events
}

/** At most so many were in at once, and at some time just as many: else it proves nothing. */
const checkPlaces = (stays: readonly Stay[], places: number): void => {
  const turns = stays.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ])
  // Who leaves in the same instant has left.
  turns.sort((a, b) => (a.at === b.at ? a.by - b.by : a.at < b.at ? -1 : 1))
  let [inside, most] = [0, 0]
  for (const { by } of turns) most = Math.max(most, (inside += by))
  assert.equal(most, places, `${most} were in at once, of ${places} places`)
}

export interface Contention {
  readonly url: string
  readonly redis: Redis
  readonly java: readonly Redisson[]
  readonly seconds: number
  readonly seed: number
}

/** All of them at work; checks that no more were in than may be, that nobody was forgotten, and nothing is left. Says what was seen. */
export const contend = async (
  { url, redis, java, seconds, seed }: Contention,
  { roles, places = 1, work = {}, left = [] }: Contended,
): Promise<string[]> => {
  if (places > 1) await redis.set('busy', places)
  const options = { ...DEFAULTS, ...work, seconds, startAt: now() + 1500 }
  const processes = roles.flatMap((role, r) =>
    [
      ...java.map((redisson) => ({ side: 'java', work: (o: WorkOptions) => javaWork(redisson, role.java, o) })),
      // Ours have time-outs and aborts alike.
      ...java.map(() => ({ side: 'node', work: (o: WorkOptions) => nodeWork(url, role.node, 'busy', o) })),
    ].map(async ({ side, work: begin }, p): Promise<History & { shared: boolean }> => {
      const who = `${side} ${p}, ${side === 'java' ? role.java : role.node}`
      return { who, shared: role.shared === true, events: await begin({ ...options, seed: 100 * seed + 10 * r + p }) }
    }),
  )
  const histories = await Promise.all(processes)
  const stays = histories.flatMap((one) => staysOf(one).map((stay) => ({ ...stay, shared: one.shared })))
  if (places === 1) checkHistory(stays)
  else checkPlaces(stays, places)
  const lines = [...linesOf(histories), redissonsShare(histories)]
  const rest = async (): Promise<string[]> =>
    (await redis.keys('*')).filter((key) => !left.includes(key) && !key.startsWith('redisson_lock_token:')).sort()
  for (const end = now() + 10_000; now() < end && (await rest()).length > 0;) await sleep(50)
  assert.deepEqual(await rest(), [], 'a key is left')
  if (places > 1) assert.equal(await redis.get('busy'), String(places))
  await redis.flushall()
  return lines
}
