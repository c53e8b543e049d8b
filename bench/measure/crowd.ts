import { takingPart } from '../participants.js'
import type { Participant } from '../participants/participant.js'
import type { Bench } from './bench.js'
import { Child } from '../processes/child.js'
import type { CrowdMessage } from '../processes/crowd-plan.js'
import { type Figures, type Row, medians } from '../base/result.js'
import { requestsBetween } from './server-meter.js'
import { machineTime } from '../base/stats.js'

export interface Crowd {
  /** How many, ms of lease. */
  readonly count: number
  readonly lease: number
  readonly does: 'hold' | 'wait'
  readonly seconds: number
  /** Runs meanwhile, until then. */
  beside(until: number): Promise<unknown>
  /** What is to be found out at the end. */
  after?(child: Child): Promise<Figures>
}

/** To get 100,000 locks may take a peer so long, ms. */
const ENTRY = 120_000

const notInNode = ({ start }: Participant): string | undefined =>
  start === undefined ? undefined : 'measured in processes of Node only'

/** Everyone once, one after the other: what is counted here does not vary from round to round. */
export const inTurn = async (
  bench: Bench,
  whyNot: (participant: Participant) => string | undefined,
  measure: (participant: Participant) => Promise<Figures>,
): Promise<Row[]> => {
  const rows: Row[] = []
  for (const participant of takingPart(bench.quick)) {
    const { name, family } = participant
    const version = participant.version()
    const row = { participant: name, family, version: version ?? '' }
    const reason =
      version === undefined ? (participant.missing ?? 'not installed') : (whyNot(participant) ?? notInNode(participant))
    if (reason === undefined) bench.log(`  ${name}`)
    try {
      const figures = reason === undefined ? [await measure(participant)] : []
      rows.push({ ...row, ...medians(figures), ...(reason !== undefined && { note: `cannot: ${reason}` }) })
    } catch (error) {
      rows.push({ ...row, ...medians([]), note: `failed: ${error instanceof Error ? error.message : String(error)}` })
    }
  }
  return rows
}

/** A process gets into its state, and then nobody calls it for some seconds. */
export const observe = async ({ server }: Bench, participant: Participant, crowd: Crowd): Promise<Figures> => {
  const { count, lease, does, seconds } = crowd
  const { redis, meter } = server!
  const args = [participant.name, redis.url, String(lease), String(count)]
  const child = await Child.open('crowd-process.js', args, ['--expose-gc'])
  const ask = (message: CrowdMessage): Promise<number> => child.ask(message) as Promise<number>
  try {
    await child.ask(does, ENTRY)
    const atFirst = await ask('memory')
    await ask('stall')
    const [cpu, before, from] = [await ask('cpu'), await meter.read(), machineTime()]
    await crowd.beside(performance.now() + seconds * 1000)
    const [spent, reading, elapsed] = [(await ask('cpu')) - cpu, await meter.read(), machineTime() - from]
    const stall = await ask('stall')
    const memory = Math.max(atFirst, await ask('memory'))
    return {
      bytes: memory / count,
      stall,
      client: (100 * spent) / elapsed,
      server: (100 * (reading.cpu - before.cpu)) / elapsed,
      requests: requestsBetween(before, reading, participant.direct),
      seconds: elapsed / 1e6,
      ...(await crowd.after?.(child)),
    }
  } finally {
    await child.end()
  }
}
