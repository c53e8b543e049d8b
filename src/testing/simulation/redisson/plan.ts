import type { Random } from '../../random.js'

/** One thing that a thread does with a lock, decided before the history begins. */
export interface ThreadStep {
  /** `r0.t1.s2`: to tell it from others, and to leave it out. */
  readonly id: string
  readonly does: 'lock' | 'try' | 'force'
  readonly name: string
  /** How long it does something else before, ms. */
  readonly before: number
  /** Of `tryLock`: it gives up then, and this is what it adds to the deadlines. */
  readonly wait: number | undefined
  /** Undefined: renewed by the watchdog. */
  readonly lease: number | undefined
  readonly work: number
  /** Taken again inside. */
  readonly nested: boolean
  /** As a multi-lock with a lease takes its members: an expiry is set on all keys afterwards. */
  readonly expire: boolean
}

export interface RedissonPlan {
  readonly name: string
  readonly watchdog: number
  readonly commandTimeout: number
  /** fairLockWaitTimeout, ms. */
  readonly allowance: number
  /** How far its wall clock, by which it sets and judges deadlines, is off. */
  readonly wallOffset: number
  readonly startsAt: number
  readonly threads: readonly (readonly ThreadStep[])[]
}

/** What a history allows its Redissons. */
export interface Manners {
  /** Nobody dies in the line: then even long allowances hold nobody up. */
  readonly patient: boolean
  /** Nobody takes a lock away: then the expiry of a multi-lock never meets a hold of ours. */
  readonly multi: boolean
  /** What the history is to meet something at; it is done often then. */
  readonly aim: string | undefined
}

/** How far the clocks of machines that keep time together are apart at most. */
export const SKEW = 300

const spread = (random: Random, most: number): number => Math.round(most * random.next() ** 3)

const stepOf = (random: Random, id: string, locks: readonly string[], { patient, multi }: Manners): ThreadStep => {
  const does = random.chance(0.85) ? 'lock' : random.pick(['try', 'try', 'force'] as const)
  const limited = random.chance(0.4)
  const long = random.chance(0.2) && patient
  const fixed = random.chance(0.3)
  const expire = random.chance(0.3) && multi
  const wait = Math.max(20, spread(random, 4000))
  return {
    id,
    does: does === 'force' && multi ? 'lock' : does,
    name: random.pick(locks),
    before: random.chance(0.5) ? 0 : spread(random, 500),
    wait: limited ? (long ? random.pick([300_000, 1_200_000, 5_000_000]) : wait) : undefined,
    lease: expire ? 1000 + spread(random, 2000) : fixed ? Math.max(20, spread(random, 2500)) : undefined,
    work: random.chance(0.3) ? 0 : spread(random, 300),
    nested: random.chance(0.15),
    expire,
  }
}

/** What is seldom done unless a history is about it. */
const FAVOURS: Readonly<Record<string, (step: ThreadStep) => Partial<ThreadStep>>> = {
  'redisson/try': () => ({ does: 'try' }),
  'redisson/force-release': ({ before }) => ({ does: 'force', before: before + 20 }),
  'redisson/cancel': () => ({ does: 'lock', wait: 20 }),
  'redisson/renew': ({ work }) => ({ does: 'lock', lease: undefined, expire: false, work: work + 400 }),
}

/** The Redissons of a history: none, up to three. */
export const strangersOf = (random: Random, locks: readonly string[], manners: Manners): RedissonPlan[] => {
  // One value for the whole fleet, as it is configured.
  const short = random.pick([300, 1000, 3000])
  const allowance = manners.patient ? random.pick([short, 300_000, 300_000]) : short
  const favour = FAVOURS[manners.aim ?? '']
  // One thread does what is wanted, beside another that may be waiting.
  const [fewest, threadsFewest] = favour === undefined ? [0, 1] : [1, 2]
  return Array.from({ length: Math.max(fewest, random.pick([0, 1, 1, 2, 2, 3])) }, (_, r): RedissonPlan => {
    const threads = Array.from({ length: Math.max(threadsFewest, 1 + random.below(2)) }, (_, t) =>
      Array.from({ length: 1 + random.below(4) }, (_, s) => {
        const step = stepOf(random, `r${r}.t${t}.s${s}`, locks, manners)
        return t === 0 ? { ...step, ...favour?.(step) } : step
      }),
    )
    return {
      name: `r${r}`,
      watchdog: random.pick([300, 1000, 3000]),
      commandTimeout: random.pick([100, 300, 1000]),
      allowance,
      wallOffset: random.chance(0.6) ? random.between(-SKEW, SKEW) : 0,
      startsAt: spread(random, 300),
      threads,
    }
  })
}
