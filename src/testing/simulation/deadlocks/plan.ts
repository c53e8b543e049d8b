import type { Random } from '../../random.js'
import type { ProcessPlan, Program, Step } from '../worker-program.js'

/** The kinds of locks that calls can wait for one another at. */
export const KINDS = [
  ...['lock', 'fairLock', 'fencedLock', 'nonReentrantLock', 'nonReentrantFairLock', 'spinLock'],
  ...['readWriteLock', 'fairReadWriteLock', 'keyedLock', 'multiLock'],
] as const
type Kind = (typeof KINDS)[number]

/** Redisson knows these, and acquires them whenever they are free. */
const FOREIGN: readonly Kind[] = ['lock', 'fencedLock', 'spinLock']
const KEYS = ['x', 'y', 'z']

/** What a unit of work does with one lock, inside of all locks before it. */
export type UnitStep = Pick<Step, 'name' | 'shared' | 'keys' | 'lease' | 'work' | 'wait'>

/** A lock's name begins with its kind. */
export const kindOf = (name: string): Kind => name.split('-')[0] as Kind

/** A name may stand for several locks. */
export const isParted = (name: string): boolean => ['keyedLock', 'multiLock'].includes(kindOf(name))

export const locksOf = ({ name, keys = [] }: Pick<Step, 'name' | 'keys'>): string[] =>
  isParted(name) ? keys.map((key) => `${name}/${key}`) : [name]

/** Another order each time. */
export const shuffled = <T>(random: Random, all: readonly T[]): T[] =>
  all
    .map((one) => [random.next(), one] as const)
    .sort(([one], [other]) => one - other)
    .map(([, one]) => one)

/** One unit of work: several of these locks in any order. */
export const stepsOf = (random: Random, names: readonly string[]): UnitStep[] =>
  shuffled(random, names)
    .slice(0, 2 + random.below(2))
    .map((name) => ({
      name,
      shared: random.chance(0.5),
      keys: shuffled(random, KEYS).slice(0, 1 + random.below(2)),
      lease: random.chance(0.05) ? 8000 : undefined,
      work: random.below(random.chance(0.3) ? 2500 : 300),
      // Some wait for so long that a deadlock outlasts what goes wrong, and must be reported after it.
      wait: random.chance(0.3) ? 12_000 + random.below(4000) : 5000 + random.below(3000),
    }))

/** A unit of a worker, as the steps of the simulation: they have the same number of a round. */
const roundOf = (random: Random, id: string, names: readonly string[]): Step[] =>
  stepsOf(random, names).map((step, s) => ({
    ...step,
    ...{ id: `${id}.s${s}`, does: 'hold', before: s === 0 ? random.below(500) : 0, owned: false, end: 'using' },
    ...{ abortable: random.chance(0.3), abortAfter: undefined, stubborn: true, nested: s > 0, extend: false },
    ...{ nestedShared: false, outlasts: false },
  }))

/** A Redisson client acquires the lock, and releases it later. */
const foreignRound = (random: Random, id: string, names: readonly string[]): Step[] => {
  const [name] = shuffled(
    random,
    names.filter((one) => FOREIGN.includes(kindOf(one))),
  )
  const [step] = roundOf(random, id, name === undefined ? [] : [name])
  return step === undefined ? [] : [{ ...step, does: 'try', work: 500 + random.below(3000) }]
}

export const isForeign = ({ does }: Step): boolean => does === 'try'

/** The steps of a worker, a list for each of its units. */
export const roundsOf = (steps: readonly Step[]): Step[][] => {
  const rounds = new Map<string, Step[]>()
  for (const step of steps) {
    const round = step.id.slice(0, step.id.lastIndexOf('.'))
    rounds.set(round, [...(rounds.get(round) ?? []), step])
  }
  return [...rounds.values()]
}

const ROUNDS = 4

const processOf = (random: Random, p: number, names: readonly string[], modes: readonly string[]): ProcessPlan => ({
  name: `p${p}`,
  kind: random.pick(modes),
  watchdog: random.pick([2000, 3000, 8000]),
  commandTimeout: random.pick([300, 1000]),
  maxWaiters: Infinity,
  wallOffset: random.chance(0.3) ? random.between(-60_000, 60_000) : 0,
  startsAt: p === 0 ? 0 : random.below(300),
  workers: Array.from({ length: 1 + random.below(3) }, (_w, w) =>
    Array.from({ length: ROUNDS }, (_r, r) => {
      const id = `p${p}.w${w}.r${r}`
      return random.chance(0.08) ? foreignRound(random, id, names) : roundOf(random, id, names)
    }).flat(),
  ),
})

/** Workers that acquire a few locks in any order, one inside the other, so that they wait for one another again and again. `modes`: what their clients do about it. */
export const deadlockProgram = (random: Random, modes: readonly string[]): Program => {
  const names = Array.from({ length: 2 + random.below(3) }, (_, i) => `${random.pick(KINDS)}-${i}`)
  // In some histories most clients end deadlocks, in others most only report them, so that they stand.
  const usual = random.chance(0.6) ? 'break' : 'report'
  const chosen = [...modes, ...Array.from({ length: 7 }, () => usual)]
  const processes = Array.from({ length: 2 + random.below(3) }, (_, p) => processOf(random, p, names, chosen))
  const locks = names.flatMap((name) => (kindOf(name) === 'multiLock' ? locksOf({ name, keys: KEYS }) : [name]))
  return { locks, processes }
}
