import { type Client, connect, type Deadlocks } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { Random } from '#src/testing/random.js'
import { KINDS, type Recorder, reportOf, runUnit, type Step, type Thing } from './unit.js'
import { Truth } from './truth.js'

/** What one history came to. */
export interface Figures {
  readonly violations: readonly string[]
  readonly cycles: number
  readonly reports: number
  readonly victims: number
}

/** Virtual time: what a history takes at most, ms. */
const LASTS = 12_000

const thingsOf = (random: Random): Thing[] =>
  Array.from({ length: 2 + random.below(3) }, (_, i) => ({ kind: random.pick(KINDS), name: `t${i}` }))

/** Another order each time. */
export const shuffled = <T>(random: Random, all: readonly T[]): T[] =>
  all
    .map((one) => [random.next(), one] as const)
    .sort(([one], [other]) => one - other)
    .map(([, one]) => one)

export const stepsOf = (random: Random, things: readonly Thing[]): Step[] =>
  shuffled(random, things)
    .slice(0, 2 + random.below(2))
    .map((thing) => ({
      thing,
      reads: random.chance(0.5),
      keys: shuffled(random, ['x', 'y', 'z']).slice(0, 1 + random.below(2)),
      lease: random.chance(0.05) ? 8000 : undefined,
      works: random.below(random.chance(0.3) ? 2500 : 300),
    }))

let histories = 0

/** One history of some clients in virtual time. The same number, the same history. */
export const playHistory = async (seed: number): Promise<Figures> => {
  const random = new Random(seed)
  const clock = virtualClock(seed)
  const url = `memory:deadlocks-${process.pid}-${(histories += 1)}`
  const truth = new Truth({ clock: 250, late: 0 })
  const modes: readonly Deadlocks[] = ['report', 'break', 'break', 'break', 'off']
  const clients: Client[] = []
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    let over = false
    const done = (): void => void (over = true)
    promise.then(done, done)
    for (await clock.advance(0); !over;) await clock.advance(10)
    return promise
  }
  for (let i = 0; i < 2 + random.below(3); i++) {
    const deadlocks = random.chance(0.5) ? 'break' : random.pick(modes)
    const client = await settle(connect({ url, clock, deadlocks, label: `c${i}` }))
    client.on('deadlock', (deadlock) => truth.reports.push(reportOf(client, deadlock, clock.now())))
    if (deadlocks !== 'off') truth.looking.add(client.id)
    if (deadlocks === 'break') truth.breaking.add(client.id)
    clients.push(client)
  }
  const recorder: Recorder = {
    now: () => clock.now(),
    pause: (ms) => new Promise((resolve) => void clock.setTimer(resolve, ms)),
    waits: (span) => truth.waits.push(span),
    holds: (span) => truth.holds.push(span),
    victim: (victim) => truth.victims.push(victim),
  }
  const things = thingsOf(random)
  const ends = clock.now() + LASTS
  const work = async (client: Client, unit: string): Promise<void> => {
    for (let round = 0; clock.now() < ends; round++) {
      await recorder.pause(random.below(500))
      const plan = { unit: `${unit}.${round}`, steps: stepsOf(random, things), wait: 5000 + random.below(6000) }
      await runUnit(client, plan, recorder)
    }
  }
  const units = clients.flatMap((client, i) =>
    Array.from({ length: 1 + random.below(3) }, (_, n) => work(client, `c${i}u${n}`)),
  )
  await settle(Promise.all(units))
  const violations = truth.violations(clock.now())
  for (const client of clients) await settle(client.close())
  await clock.advance(60_000)
  return { violations, cycles: truth.cycles().length, reports: truth.reports.length, victims: truth.victims.length }
}
