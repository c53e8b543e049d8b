import { setTimeout as sleep } from 'node:timers/promises'
import { startNodeWork } from '../../test/suites/interop/support/contention.js'
import type { Kind, Range, WorkEvent } from '../../test/suites/interop/support/java-lock.js'
import { type Redisson, now, startRedisson } from '../../test/suites/interop/support/redisson.js'
import { PATIENCE } from '../base/load.js'
import type { Stretch } from './visits.js'

/** Of each side so many processes, each with so many callers. */
export const PROCESSES = 2
export const CALLERS = 8

/** From which part of the visits to which part is Redisson's fair, in %: as many of its callers want the same. */
export const FAIR_SHARE = [35, 65] as const

/** One object, and how both sides work on it. */
export interface Contest {
  readonly java: Kind
  /** What lock-worker.ts calls it. */
  readonly node: string
  readonly holdMs: Range
  /** What part of the visits reads. */
  readonly reads?: number
  /** What Redisson is told first: a method and its arguments. */
  readonly setUp?: readonly [method: string, ...args: readonly unknown[]]
  /** Seconds that do not count, then seconds that do. */
  readonly warm: number
  readonly seconds: number
}

/** What the processes of each side told. */
export interface Told {
  readonly theirs: readonly (readonly WorkEvent[])[]
  readonly ours: readonly (readonly WorkEvent[])[]
  readonly stretch: Stretch
}

interface Party {
  readonly events: readonly WorkEvent[]
  /** Rejects when it ended otherwise than well. */
  readonly ended: Promise<unknown>
  kill(): Promise<unknown>
}

const NAME = 'bench:both'
/** Until a process of Node has come up, ms. */
const LEAD = 1500

const javaParty = (redisson: Redisson, kind: Kind, work: Parameters<typeof startNodeWork>[3]): Party => {
  const events: WorkEvent[] = []
  const ended = redisson.request({ op: 'work', kind, name: NAME, ...work }, (line) => events.push(line as WorkEvent))
  return { events, ended, kill: () => redisson.kill() }
}

const nodeParty = (url: string, kind: string, work: object): Party => {
  const { child, events, ended } = startNodeWork(url, kind, NAME, work)
  const kill = async (): Promise<unknown> => {
    child.kill('SIGKILL')
    return ended.catch(() => undefined)
  }
  return { events, ended, kill }
}

/** Both sides on one object at the same time, as in the soak beside Redisson, but nobody gives up and nobody pauses. */
export const workTogether = async (url: string, contest: Contest): Promise<Told> => {
  const { java, node, holdMs, reads, setUp, warm, seconds } = contest
  const machines = await Promise.all(Array.from({ length: PROCESSES }, () => startRedisson({ url })))
  const parties: Party[] = []
  try {
    if (setUp !== undefined) await machines[0]!.lock(java, NAME).call(setUp[0], setUp.slice(1))
    const startAt = now() + LEAD
    const work = { workers: CALLERS, seconds: warm + seconds, startAt, hold: holdMs, reads }
    const theirs = machines.map((one, index) => javaParty(one, java, { ...work, seed: index + 1 }))
    parties.push(...theirs)
    const ours = machines.map((_, index) => nodeParty(url, node, { ...work, seed: PROCESSES + index + 1 }))
    parties.push(...ours)
    const from = startAt + 1000 * warm
    const until = from + 1000 * seconds
    const stop = new AbortController()
    const limit = sleep(until + PATIENCE - now(), undefined, { signal: stop.signal }).catch(() => undefined)
    await Promise.race([Promise.all(parties.map(({ ended }) => ended)), limit])
    stop.abort()
    const eventsOf = (side: readonly Party[]) => side.map(({ events }) => [...events])
    return { theirs: eventsOf(theirs), ours: eventsOf(ours), stretch: { from, until, end: now() } }
  } finally {
    for (const { ended } of parties) ended.catch(() => undefined)
    await Promise.all([...parties, ...machines].map((one) => one.kill()))
  }
}
