import { participantNamed, takingPart } from '../participants.js'
import { type Participant, whyNot } from '../participants/participant.js'
import type { Bench } from './bench.js'
import { Crew } from '../processes/crew.js'
import { betweenProcesses, digest, serverSide, totalOf, violations } from './digest.js'
import { workInLine } from './full-line.js'
import { PATIENCE_AT_END, type Load, type Sample, type Slot } from '../base/load.js'
import { type Figures, type Row, medians } from '../base/result.js'

export interface Plan {
  readonly load: Load
  /** Seconds that count, of one participant in one round. */
  readonly seconds: number
  /** Who takes part, by name; everybody unless told. */
  readonly who?: readonly string[]
  /** Seconds before the first round. */
  readonly first?: number
  /** Seconds that count in a quick one. */
  readonly quick?: number
  /** How long the last caller may take when the time is over, ms. */
  readonly patience?: number
  /** What else is measured in each round. */
  readonly beside?: () => Promise<void>
}

/** What counts of a quick one, for each participant, in seconds. */
const QUICK = 0.3
/** How long the last caller may take in a quick one, ms: a peer that loses a wake-up would hold up all the rest. */
const QUICK_PATIENCE = 1500
/** Before what counts, in each slot, so that subscriptions stand. */
const WARM = 0.3
/**
 * And once at first, with short holds: so code is compiled as it is in a process that has worked for a while. Where calls are
 * held up by what a hold takes, a second of them is too few: the CPU of all participants goes on falling for many.
 */
const FIRST = { fast: 0.7, held: 8 }
const FIRST_QUICK = { fast: 0.7, held: 0.4 }
const SHORT = 0.1
/** Until all processes have heard of the start, in ms. */
const LEAD = 30

class Entry {
  readonly participant: Participant
  readonly figures: Figures[] = []
  crew: Crew | undefined
  note: string | undefined
  violated = false
  asleep = 0

  constructor(participant: Participant, load: Load) {
    this.participant = participant
    const reason = whyNot(participant, load)
    if (reason !== undefined) this.note = `cannot: ${reason}`
  }

  get takesPart(): boolean {
    return this.note === undefined
  }

  /** Nobody's failure ends the bench. */
  async attempt(step: () => Promise<void>): Promise<void> {
    if (!this.takesPart) return
    try {
      await step()
    } catch (error) {
      this.note = `failed: ${(error instanceof Error ? error.message : String(error)).split('\n')[0]}`
      await this.crew?.end()
    }
  }

  row(): Row {
    const slept = `${this.asleep} of the callers still waited seconds after all was over; p50 and the like know nothing of those waits`
    const note = this.violated ? 'VIOLATED' : (this.note ?? (this.asleep > 0 ? slept : undefined))
    const { name, family } = this.participant
    const version = this.participant.version() ?? ''
    return { participant: name, family, version, ...medians(this.figures), ...(note !== undefined && { note }) }
  }
}

/**
 * Everyone in turn within a round, and in another order in the next: whatever else the machine does meets all alike.
 * The processes of those whose turn it is not stay, and rest.
 */
export const runRounds = async (bench: Bench, { load, seconds, who, first, beside, ...plan }: Plan): Promise<Row[]> => {
  const entries = (who?.map(participantNamed) ?? takingPart(bench.quick)).map(
    (participant) => new Entry(participant, load),
  )
  const active = entries.filter((entry) => entry.takesPart)
  const url = load.engine === 'memory' ? 'memory:bench' : bench.server!.redis.url
  const warm = first ?? (bench.quick ? FIRST_QUICK : FIRST)[load.holdMs === 0 ? 'fast' : 'held']
  const patience = plan.patience ?? (bench.quick ? QUICK_PATIENCE : PATIENCE_AT_END)
  const early = { warm, seconds: 0, holdMs: Math.min(load.holdMs, SHORT), patience }
  const times = { warm: WARM, seconds: bench.quick ? (plan.quick ?? QUICK) : seconds, patience }
  try {
    for (const entry of active) {
      await entry.attempt(async () => {
        if (load.endless === true) return
        entry.crew = await Crew.open(entry.participant, url, load)
        entry.violated = !(await entry.crew.probe())
        await work(entry, load, early)
      })
    }
    for (let round = 0; round < bench.rounds; round++) {
      bench.log(`  round ${round + 1} of ${bench.rounds}`)
      await beside?.()
      for (let turn = 0; turn < active.length; turn++) {
        const entry = active[(turn + round) % active.length]!
        await entry.attempt(() =>
          load.endless === true ? measureLine(bench, entry, load, times.seconds) : measure(bench, entry, load, times),
        )
      }
    }
  } finally {
    await Promise.all(active.map(async (entry) => entry.crew?.end()))
  }
  return entries.map((entry) => entry.row())
}

type Times = Omit<Slot, 'startAt'>

const work = async (entry: Entry, { places }: Load, times: Times): Promise<Sample[]> => {
  const samples = await entry.crew!.work({ startAt: Date.now() + LEAD, ...times })
  if (violations(samples, places) > 0) entry.violated = true
  entry.asleep += totalOf(samples, 'asleep')
  return samples
}

const measure = async (bench: Bench, entry: Entry, load: Load, times: Times): Promise<void> => {
  const meter = load.engine === 'memory' ? undefined : bench.server!.meter
  // What has no holds is not compared with what a trip takes.
  const trip = load.holdMs === 0 ? undefined : await meter?.trip()
  const turns = async (): Promise<number> => (await bench.server?.turns?.()) ?? NaN
  const [before, from] = [await meter?.read(), await turns()]
  const samples = await work(entry, load, times)
  const [until, after] = [await turns(), await meter?.read()]
  const figures = digest(samples, times.seconds)
  if (trip !== undefined) figures['trip'] = trip
  if (!Number.isNaN(until)) figures['turns'] = (until - from) / totalOf(samples, 'total')
  if ((load.places ?? 1) === 1) Object.assign(figures, betweenProcesses(samples))
  if (before !== undefined && after !== undefined) {
    serverSide(figures, entry.participant.direct, totalOf(samples, 'total'), [before, after])
  }
  entry.figures.push(figures)
}

const measureLine = async (bench: Bench, entry: Entry, load: Load, seconds: number): Promise<void> => {
  const { samples, readings, full } = await workInLine(bench, entry.participant, load, seconds)
  if (violations(samples) > 0) entry.violated = true
  const figures = { ...digest(samples, seconds), full }
  const pairs = totalOf(samples, 'pairs')
  serverSide(figures, entry.participant.direct, pairs, readings)
  entry.figures.push(figures)
}
