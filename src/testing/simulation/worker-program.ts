import type { ReleaseMode } from '../../api/hold.js'
import type { Random } from '../random.js'

/** One thing that a worker does with a lock, decided before the history begins. */
export interface Step {
  /** `p0.w1.s2`: to tell it from others, and to leave it out. */
  readonly id: string
  readonly does: 'hold' | 'try' | 'inspect' | 'force'
  readonly name: string
  /** Of a group, or of several locks as one. */
  readonly keys?: readonly string[]
  /** How long it does something else before, ms. */
  readonly before: number
  readonly wait: number | undefined
  /** Undefined: renewed by the watchdog. */
  readonly lease: number | undefined
  /** Under the worker's own owner, not an anonymous one. */
  readonly owned: boolean
  /** Has a signal that may fire. */
  readonly abortable: boolean
  /** ms from the call to the abort by its own signal. */
  readonly abortAfter: number | undefined
  /** How long the work takes. */
  readonly work: number
  /** Goes on although the hold is lost. */
  readonly stubborn: boolean
  /** Taken again inside, for half of the work. */
  readonly nested: boolean
  /** Prolonged in the middle of the work. */
  readonly extend: boolean
  /** Where there are two sides: whether it takes the shared one, and inside; and whether that goes on longer. */
  readonly shared: boolean
  readonly nestedShared: boolean
  readonly outlasts: boolean
  readonly end: 'release' | 'using' | 'detach' | 'forget'
}

export interface ProcessPlan {
  readonly name: string
  /** Names of the kinds table, one for all of this process. */
  readonly kind: string
  readonly watchdog: number
  readonly commandTimeout: number
  readonly maxWaiters: number
  readonly release?: ReleaseMode
  /** How far its wall clock is off. */
  readonly wallOffset: number
  readonly startsAt: number
  readonly workers: readonly (readonly Step[])[]
}

export interface Program {
  readonly locks: readonly string[]
  readonly processes: readonly ProcessPlan[]
}

/** Short mostly, long now and then. */
const spread = (random: Random, most: number): number => Math.round(most * random.next() ** 3)

const sidesOf = (random: Random): Pick<Step, 'shared' | 'nestedShared' | 'outlasts'> => ({
  shared: random.chance(0.7),
  nestedShared: random.chance(0.7),
  outlasts: random.chance(0.5),
})

const stepOf = (random: Random, id: string, locks: readonly string[], watchdog: number): Step => {
  const does = random.chance(0.78) ? 'hold' : random.pick(['try', 'try', 'inspect', 'force'] as const)
  const fixed = random.chance(0.4)
  const lease = fixed ? Math.max(5, spread(random, 2500)) : undefined
  const limited = random.chance(0.4)
  const end = random.pick(['release', 'release', 'release', 'using', 'detach', fixed ? 'forget' : 'release'] as const)
  return {
    id,
    does,
    name: random.pick(locks),
    before: random.chance(0.5) ? 0 : spread(random, 500),
    wait: limited ? Math.max(1, spread(random, 3000)) : undefined,
    lease,
    owned: random.chance(0.3),
    abortable: random.chance(0.6),
    abortAfter: random.chance(0.2) ? spread(random, 1000) : undefined,
    work: random.chance(0.3) ? 0 : spread(random, random.chance(0.2) ? 2 * watchdog : 200),
    stubborn: random.chance(0.3),
    nested: random.chance(0.2),
    extend: fixed && random.chance(0.4),
    end,
    ...sidesOf(random.fork(id)),
  }
}

export const programOf = (random: Random, kinds: readonly string[]): Program => {
  const locks = random.chance(0.75) ? ['a'] : ['a', 'b']
  const processes = Array.from({ length: 1 + random.below(3) }, (_, p): ProcessPlan => {
    const watchdog = random.pick([300, 1000, 3000])
    const workers = Array.from({ length: 1 + random.below(4) }, (_, w) =>
      Array.from({ length: 1 + random.below(4) }, (_, s) => stepOf(random, `p${p}.w${w}.s${s}`, locks, watchdog)),
    )
    return {
      name: `p${p}`,
      kind: random.pick(kinds),
      watchdog,
      commandTimeout: random.pick([100, 300, 1000]),
      maxWaiters: random.chance(0.05) ? 2 : Infinity,
      release: random.fork(`p${p}.release`).chance(0.3) ? 'sent' : 'answered',
      wallOffset: random.chance(0.3) ? random.between(-60_000, 60_000) : 0,
      startsAt: p === 0 ? 0 : spread(random, 300),
      workers,
    }
  })
  return { locks, processes }
}

/** Many processes of one caller each, which all want the same one, again and again. */
export const crowdOf = (random: Random, kinds: readonly string[]): Program => {
  const kind = random.pick(kinds)
  const processes = Array.from({ length: 8 + random.below(5) }, (_, p): ProcessPlan => {
    const steps = Array.from({ length: 3 }, (_, s): Step => ({
      ...stepOf(random, `p${p}.w0.s${s}`, ['a'], 3000),
      ...{ does: 'hold', wait: undefined, lease: undefined, abortable: false, abortAfter: undefined },
      ...{
        before: 0,
        work: random.below(20),
        nested: false,
        extend: false,
        end: 'release',
        shared: random.chance(0.3),
      },
    }))
    return {
      ...{ name: `p${p}`, kind, watchdog: 3000, commandTimeout: 1000, maxWaiters: Infinity, wallOffset: 0 },
      startsAt: random.below(50),
      workers: [steps],
    }
  })
  return { locks: ['a'], processes }
}
