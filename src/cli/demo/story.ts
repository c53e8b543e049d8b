import type { Inside } from './inside.js'
import { duration, short } from './stage.js'
import type { Victim } from './victim.js'
import { sleep, type Troupe } from './workers.js'

/** Who does what, and when. The directions are a script, but the locks are real, and decide who acquires them. */

export const LOCKS = ['orders', 'invoices', 'printer'] as const
export type LockName = (typeof LOCKS)[number]

/** The lease of a renewed hold at full pace, ms. */
export const WATCHDOG = 2000

interface Part {
  readonly worker: string
  readonly start: number
  readonly rest: number
  readonly turns: readonly (readonly [lock: LockName, work: number])[]
}

const CREW: readonly Part[] = [
  {
    worker: 'ada',
    start: 0,
    rest: 260,
    turns: [
      ['orders', 520],
      ['printer', 380],
    ],
  },
  {
    worker: 'bob',
    start: 120,
    rest: 320,
    turns: [
      ['orders', 460],
      ['invoices', 420],
    ],
  },
  {
    worker: 'dan',
    start: 60,
    rest: 240,
    turns: [
      ['invoices', 480],
      ['orders', 540],
    ],
  },
  {
    worker: 'eve',
    start: 30,
    rest: 200,
    turns: [
      ['printer', 440],
      ['invoices', 360],
    ],
  },
  {
    worker: 'gus',
    start: 180,
    rest: 300,
    turns: [
      ['printer', 520],
      ['printer', 340],
      ['orders', 420],
    ],
  },
  {
    worker: 'hana',
    start: 240,
    rest: 220,
    turns: [
      ['invoices', 400],
      ['printer', 460],
    ],
  },
]

/** The workers that need no process of their own. */
export const WORKERS: readonly string[] = [...CREW.map(({ worker }) => worker), 'finn']

export interface StoryOptions {
  readonly troupe: Troupe
  readonly inside: Inside
  readonly victim: Victim
  /** 1: the whole takes some ten seconds; less: faster. */
  readonly pace: number
  /** When the show ends, ms. */
  readonly length: number
}

const life = async ({ troupe, pace }: StoryOptions, { worker, start, rest, turns }: Part): Promise<void> => {
  await sleep(start * pace, troupe.curtain)
  while (!troupe.fallen())
    for (const [lock, work] of turns) {
      await troupe.turn(worker, lock, work * pace)
      await sleep(rest * pace, troupe.curtain)
    }
}

/** cleo has a client of her own; it is abandoned while she holds 'orders'. */
const crash = async ({ troupe, inside, victim, pace }: StoryOptions): Promise<void> => {
  const worker = 'cleo'
  const lock = 'orders'
  // A clear entrance: workers that have asked by now go first, the others after her.
  await sleep(550 * pace, troupe.curtain)
  const reopen = troupe.pause(lock)
  await sleep(450 * pace, troupe.curtain)
  if (troupe.fallen()) {
    reopen()
    return
  }
  troupe.play({ kind: 'asks', worker, lock })
  try {
    await victim.take(troupe.curtain)
  } catch (error) {
    if (!troupe.fallen()) throw error
    troupe.play({ kind: 'gives up', worker, lock })
    return
  } finally {
    reopen()
  }
  inside.enter(lock, worker)
  troupe.play({ kind: 'gets', worker, lock, lease: Math.round(WATCHDOG * pace), fixed: false })
  await troupe.inside(worker, lock, 1000 * pace, troupe.curtain)
  inside.leave(lock, worker)
  const next = troupe.next(lock)
  await victim.crash()
  const crashed = troupe.now()
  troupe.play({ kind: 'crashes', worker, lock })
  const left = (await troupe.lock(lock).remaining()) ?? 0
  troupe.say(
    `cleo crashes while holding 'orders': its lease ends in ${short(left)}. Until then no worker can acquire it.`,
    'bad',
  )
  const heir = await next
  if (heir === undefined) return
  const after = duration(troupe.now() - crashed)
  troupe.say(`The lease ended: ${heir} acquired 'orders' ${after} after the crash. No cleanup was needed.`, 'good')
}

/** finn works like the others, until he acquires 'invoices' with a fixed lease and needs longer than that. */
const dawdle = async ({ troupe, pace }: StoryOptions): Promise<void> => {
  const lock = 'invoices'
  const lease = Math.round(1400 * pace)
  const need = 2 * lease
  await sleep(90 * pace, troupe.curtain)
  while (!troupe.fallen() && troupe.now() < 4600 * pace) {
    await troupe.turn('finn', 'printer', 360 * pace)
    await sleep(280 * pace, troupe.curtain)
  }
  let next: Promise<string | undefined> = Promise.resolve(undefined)
  const onGets = (): void =>
    troupe.say(`finn acquired 'invoices' for a fixed ${short(lease)}, but is slow: his work takes ${short(need)}.`)
  const onLost = (): void => {
    troupe.say(
      `finn lost his hold of 'invoices'. hold.signal aborts before another worker can acquire it, and he stops.`,
      'lost',
    )
    next = troupe.next(lock)
  }
  await troupe.turn('finn', lock, need, { lease, onGets, onLost })
  const heir = await next
  if (heir === undefined) return
  await sleep(900 * pace, troupe.curtain)
  if (!troupe.fallen()) troupe.say(`${heir} alone holds 'invoices' now: finn wrote nothing after the signal.`, 'good')
}

/** Plays the whole story. Resolves when the show has ended and all locks are released. */
export const story = async (options: StoryOptions): Promise<void> => {
  const { troupe, length } = options
  troupe.say(`Eight workers share three locks. A lock lets one worker in at a time; the others wait in line.`)
  const ends = sleep(length, troupe.curtain).then(() => {
    if (troupe.fallen()) return
    troupe.say('Closing time: lock holders release their locks, and waiters give up and leave nothing behind.')
    troupe.fall()
  })
  await Promise.all([ends, crash(options), dawdle(options), ...CREW.map((part) => life(options, part))])
}
