import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { AcquireTimeoutError, connect, type Deadlocks, LockLostError } from 'holdfast'
import { Random } from '#src/testing/random.js'
import { startRedis } from '../../support/redis-server.js'
import { KINDS, shuffled, stepsOf, type UnitStep } from '#src/testing/simulation/deadlocks/plan.js'
import { type HoldSpan, type Report, Truth, type WaitSpan } from '#src/testing/simulation/deadlocks/truth.js'
import { type Recorder, reportOf, runUnit } from '#src/testing/simulation/deadlocks/unit.js'

/**
 * Four processes acquire locks of all kinds in any order, so that they wait for one another again and again. Each tells this process what it waited for, held, was
 * told and was rejected with. No deadlock may be missed after 3 s, none reported that never was, and each may have one victim.
 *
 *     npm run soak -- deadlocks --minutes 3
 */

/** One process of a round. The processes of one machine have the same clock. */
interface Crew {
  readonly url: string
  readonly seed: number
  readonly member: number
  readonly names: readonly string[]
  readonly deadlocks: Deadlocks
  readonly lasts: number
}

/** What a process says at the end of its round. */
interface Record {
  readonly client: string
  readonly deadlocks: Deadlocks
  readonly waits: readonly WaitSpan[]
  readonly holds: readonly HoldSpan[]
  readonly reports: readonly Report[]
  readonly victims: readonly Report[]
  readonly until: number
  /** For how many ms its event loop stood still at most. */
  readonly stood: number
}

/** A call gives up after its time limit, and a fixed lease may end while the unit waits inside of it. */
const expected =
  (steps: readonly UnitStep[]) =>
  (error: unknown): void => {
    const ended = error instanceof LockLostError && steps.some(({ lease }) => lease !== undefined)
    if (!(error instanceof AcquireTimeoutError) && !ended) throw error
  }

const UNITS = 3
const ROUND = 20_000

const work = async ({ url, seed, member, names, deadlocks, lasts }: Crew): Promise<Record> => {
  const random = new Random(seed).fork(`member ${member}`)
  const client = await connect({ url, deadlocks, label: `member ${member}` })
  const [waits, holds, reports, victims] = [[], [], [], []] as [WaitSpan[], HoldSpan[], Report[], Report[]]
  client.on('deadlock', (deadlock) => reports.push(reportOf(client, deadlock, Date.now())))
  let [stood, looked] = [0, Date.now()]
  const look = setInterval(() => {
    stood = Math.max(stood, Date.now() - looked - 50)
    looked = Date.now()
  }, 50)
  const ends = Date.now() + lasts
  const recorder: Recorder = {
    now: () => Date.now(),
    pause: (ms) => sleep(ms),
    waits: (span) => {
      waits.push(span)
      return undefined
    },
    waited: (_, hold) => {
      if (hold !== undefined) holds.push(hold)
    },
    held: () => undefined,
    victim: (victim) => victims.push(victim),
  }
  const unit = async (name: string): Promise<void> => {
    for (let round = 0; Date.now() < ends; round++) {
      await sleep(random.below(500))
      const steps = stepsOf(random, names)
      await runUnit({ client, name: `${name}.${round}`, steps }, recorder).catch(expected(steps))
    }
  }
  await Promise.all(Array.from({ length: UNITS }, (_, i) => unit(`m${member}u${i}`)))
  const until = Date.now()
  clearInterval(look)
  await client.close()
  return { client: client.id, deadlocks, waits, holds, reports, victims, until, stood }
}

const run = (crew: Crew): Promise<Record> =>
  new Promise((resolve, reject) => {
    const child: ChildProcess = fork(fileURLToPath(import.meta.url), ['--work', JSON.stringify(crew)])
    child.once('message', (record) => resolve(record as Record))
    child.once('exit', (code) => reject(new Error(`member ${crew.member} ended with ${code}`)))
  })

/** A number of JSON is never infinite. */
const open = <S extends { to: number | null }>(span: S): S => ({ ...span, to: span.to ?? Infinity })

const judged = (records: readonly Record[]): Truth => {
  // A process that stood still is late by as much.
  const stood = Math.max(...records.map((record) => record.stood))
  const truth = new Truth({ clock: 300 + stood, since: 300 + stood, late: 500 + 4 * stood })
  for (const { client, deadlocks, waits, holds, reports, victims } of records) {
    truth.waits.push(...waits.map(open))
    truth.holds.push(...holds.map(open))
    truth.reports.push(...reports)
    truth.victims.push(...victims)
    if (deadlocks !== 'off') truth.looking.add(client)
    if (deadlocks === 'break') truth.breaking.add(client)
  }
  return truth
}

const soak = async (minutes: number, seed: number): Promise<void> => {
  const server = await startRedis()
  const sum = { rounds: 0, cycles: 0, reports: 0, victims: 0, late: 0 }
  const wrong: string[] = []
  const until = performance.now() + minutes * 60_000
  while (performance.now() < until && wrong.length === 0) {
    const random = new Random(seed + sum.rounds)
    const names = shuffled(random, KINDS)
      .slice(0, 3 + random.below(2))
      .map((kind, i) => `${kind}-${sum.rounds}-${i}`)
    const modes: readonly Deadlocks[] = ['break', 'break', 'report', random.chance(0.5) ? 'break' : 'off']
    const crews = modes.map((deadlocks, member) => ({
      url: server.url,
      seed: seed + sum.rounds,
      member,
      names,
      deadlocks,
      lasts: ROUND,
    }))
    const records = await Promise.all(crews.map(run))
    const truth = judged(records)
    wrong.push(...truth.violations(Math.min(...records.map((record) => record.until))))
    sum.rounds++
    sum.cycles += truth.cycles().length
    sum.reports += truth.reports.length
    sum.victims += truth.victims.length
    sum.late = Math.max(sum.late, ...records.map(({ stood }) => stood))
  }
  await server.stop()
  console.log(
    `${sum.rounds} rounds, ${sum.cycles} deadlocks, ${sum.reports} reports, ${sum.victims} victims; an event loop stood still for ${sum.late} ms at most`,
  )
  for (const line of wrong.slice(0, 20)) console.log(`✘ ${line}`)
  if (wrong.length > 0 || sum.victims === 0) process.exitCode = 1
}

const [flag, value = '1', , seed] = process.argv.slice(2)
if (flag === '--work') {
  const record = await work(JSON.parse(value) as Crew)
  process.send?.(record, () => process.disconnect())
} else await soak(Number(flag === '--minutes' ? value : 1), Number(seed ?? Date.now() % 1_000_000))
