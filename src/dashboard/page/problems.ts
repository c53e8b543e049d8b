import type { Around, ShownLock } from '../page-messages.js'
import { age, count, shown, whoIs } from './words.js'

/** Something that is wrong. `lock`: the `id` of the lock to look at. */
export interface Problem {
  readonly level: 'deadlock' | 'bad' | 'odd'
  readonly lock: string
  readonly text: string
  readonly advice: string
}

const behind = ({ waiters }: ShownLock): string =>
  waiters === 0 ? 'Nobody waits for it.' : `${count(waiters, 'caller')} ${waiters === 1 ? 'waits' : 'wait'} for it.`

const ofLock = (lock: ShownLock, now: number): Problem | undefined => {
  const { id, name, holders, until } = lock
  const gone = holders.find(({ sign }) => sign === 'gone')
  const [first] = holders
  if (gone !== undefined)
    return {
      ...{ level: 'bad', lock: id },
      text: `${shown(name)} is held by ${whoIs(gone)}, which is silent`,
      advice: `Its process has probably died. The lock is free when the lease ends. ${behind(lock)}`,
    }
  if (until === null && first !== undefined)
    return {
      ...{ level: 'bad', lock: id },
      text: `The lease of ${shown(name)} has no end`,
      advice: `Another program removed the expiry. The lock stays held by ${whoIs(first)} until somebody releases it. ${behind(lock)}`,
    }
  if (first !== undefined && lock.late === true)
    return {
      ...{ level: 'odd', lock: id },
      text: `The renewal of ${shown(name)} is overdue`,
      advice: `${whoIs(first)} has held it for ${age(first, now)} and may be paused or cut off. ${behind(lock)}`,
    }
  return undefined
}

const ofCycle = (cycle: Around['cycles'][number]): Problem => ({
  level: 'deadlock',
  lock: cycle[0]?.lock ?? '',
  text: `Deadlock: ${cycle.map(({ who }) => shown(who)).join(' and ')} wait for one another`,
  advice: cycle
    .map(({ who, holds, wants }) => `${shown(who)} holds ${shown(holds)} and waits for ${shown(wants)}.`)
    .join(' '),
})

/** By the id of the lock: the worst that is wrong with it. */
export type Levels = ReadonlyMap<string, Problem['level']>

export const problemsOf = (around: Around, locks: Iterable<ShownLock>, now: number): readonly Problem[] => {
  const found = [...locks].flatMap((lock) => ofLock(lock, now) ?? [])
  const bad = found.filter(({ level }) => level === 'bad')
  return [...around.cycles.map(ofCycle), ...bad, ...found.filter(({ level }) => level === 'odd')]
}

export const levelsOf = (around: Around, problems: readonly Problem[]): Levels => {
  const levels = new Map<string, Problem['level']>()
  for (const { lock, level } of problems.toReversed()) levels.set(lock, level)
  for (const { lock } of around.cycles.flat()) levels.set(lock, 'deadlock')
  return levels
}
