import { Redis } from 'ioredis'
import { holdfast } from '../participants/holdfast.js'
import type { Member } from '../participants/participant.js'
import { redisson } from '../participants/redisson.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { PATIENCE } from '../base/load.js'
import { Child } from '../processes/child.js'
import { totalOf, violations } from '../measure/digest.js'
import type { Load, Sample } from '../base/load.js'
import { type Figures, type Row, format, medians, target } from '../base/result.js'
import { median } from '../base/stats.js'
import { switchFloor } from '../measure/process-switch.js'

const LOAD: Load = { kind: 'fairLock', engine: 'redis', processes: 2, callers: 4, names: 'one', holdMs: 2 }
const WARM = 1

type Side = 'ours' | 'theirs'

const OURS: readonly Side[] = ['ours', 'ours']
const THEIRS: readonly Side[] = ['theirs', 'theirs']

interface Stay {
  readonly process: number
  readonly side: Side
  readonly entered: number
  readonly left: number
}

/** Processes that want one lock, and who they are. */
interface Company {
  readonly name: string
  readonly family: string
  readonly sides: readonly Side[]
}

const MIXED: Company = { name: 'two of each', family: 'mixed', sides: [...OURS, ...THEIRS] }
const REDISSON: Company = { name: 'Redisson alone', family: redisson.name, sides: [...THEIRS, ...THEIRS] }
const HOLDFAST: Company = { name: 'holdfast alone', family: holdfast.name, sides: [...OURS, ...OURS] }

const staysOf = (samples: readonly Sample[], sides: readonly Side[]): Stay[] =>
  samples
    .flatMap(({ stays }, process) =>
      Array.from({ length: stays.length / 2 }, (_, index) => ({
        ...{ process, side: sides[process]!, entered: stays[2 * index]!, left: stays[2 * index + 1]! },
      })),
    )
    .sort((a, b) => a.entered - b.entered)

/** ms from the release in one process until somebody in another has it, the median of all such that `counts`. */
const wakeUp = (stays: readonly Stay[], counts: (from: Side, to: Side) => boolean): number =>
  median(
    stays.slice(1).flatMap((stay, index) => {
      const before = stays[index]!
      const elsewhere = before.process !== stay.process
      return elsewhere && counts(before.side, stay.side) ? [(stay.entered - before.left) / 1000] : []
    }),
  )

class Team {
  readonly #company: Company
  readonly #key: string
  readonly #members: readonly Member[]
  readonly figures: Figures[] = []
  violated = false

  private constructor(company: Company, key: string, members: readonly Member[]) {
    this.#company = company
    this.#key = key
    this.#members = members
  }

  static async open(url: string, company: Company): Promise<Team> {
    const key = `bench:x:${company.name}`
    const open: Record<Side, () => Promise<Member>> = {
      ours: () => Child.open('worker.js', [holdfast.name, url, JSON.stringify(LOAD), JSON.stringify([key])]),
      theirs: () => redisson.start!(url, LOAD, [key]),
    }
    return new Team(company, key, await Promise.all(company.sides.map((side) => open[side]())))
  }

  async work(seconds: number, warm: number): Promise<Sample[]> {
    const slot = { startAt: Date.now() + 100, warm, seconds }
    const limit = (warm + seconds) * 1000 + PATIENCE
    return (await Promise.all(this.#members.map((member) => member.ask(slot, limit)))) as Sample[]
  }

  async measure(seconds: number): Promise<void> {
    const samples = await this.work(seconds, WARM)
    const { sides } = this.#company
    const stays = staysOf(samples, sides)
    const pairs = totalOf(samples, 'pairs')
    const mixed = sides.includes('ours') && sides.includes('theirs')
    const across = (side: Side): number => wakeUp(stays, (from, to) => to === side && (from !== to || !mixed))
    const toOurs = sides.includes('ours') && { toOurs: across('ours') }
    const toTheirs = sides.includes('theirs') && { toTheirs: across('theirs') }
    const ours = samples.filter((_, process) => sides[process] === 'ours')
    const share = mixed && { share: (100 * totalOf(ours, 'pairs')) / pairs }
    this.violated ||= violations(samples) > 0
    this.figures.push({ rate: pairs / seconds, ...share, ...toOurs, ...toTheirs })
  }

  row(): Row {
    const { name, family } = this.#company
    const version = redisson.version() ?? ''
    const note = this.violated && { note: 'VIOLATED' }
    return { participant: name, family, version, ...medians(this.figures), ...note }
  }

  async end(redis: Redis): Promise<void> {
    await Promise.all(this.#members.map((member) => member.kill()))
    await redis.del(this.#key)
  }
}

/** All in turn within a round. */
const together = async ({ server, quick, rounds }: Bench): Promise<Row[]> => {
  const companies = [MIXED, REDISSON, HOLDFAST]
  if (redisson.version() === undefined) {
    const note = `cannot: ${redisson.missing}`
    return companies.map(({ name, family }) => ({ participant: name, family, version: '', ...medians([]), note }))
  }
  const { url } = server!.redis
  const redis = new Redis(url)
  const teams: Team[] = []
  try {
    for (const company of companies) teams.push(await Team.open(url, company))
    // Java compiles while it runs.
    for (const team of teams) await team.work(quick ? 1 : 5, 0)
    for (let round = 0; round < rounds; round++) {
      for (const team of teams) await team.measure(quick ? 0.5 : 4)
      const relay = { processes: 2, holdMs: LOAD.holdMs, by: 'scripts' } as const
      const { switch: floor } = await switchFloor(url, quick ? 40 : 200, relay)
      teams[0]!.figures.at(-1)!['floor'] = floor!
    }
    return teams.map((team) => team.row())
  } finally {
    for (const team of teams) await team.end(redis)
    redis.disconnect()
  }
}

export const x: Scenario = {
  id: 'x',
  title: 'X: one fair lock, 2 processes of Redisson and 2 of ours, 4 callers in each, held for 2 ms',
  about: {
    measures:
      'Two Java processes with Redisson and two of Node with holdfast want one fair lock, all the time. *Share* is what part ' +
      'of the acquisitions is ours: as many callers want it on both sides. *To ours* and *to theirs* are from the release ' +
      'by one side until one of the other has it, medians; beside it, with four processes of one side alone, the same from ' +
      'process to process. Ours alone needs one trip for that: the word that it is granted. Redisson needs two, being called ' +
      'and asking, and so do both beside one another. *Switch* is what two processes of Node need for two with nobody else there. Exclusion is checked by the one clock of the machine.',
    differs:
      'Whoever frees the lock calls the next one as that one understands it: ours is granted it, and one of Redisson’s asks ' +
      'for it when it is called.',
    misleads:
      'Most of a wake-up is the waking of a process that sleeps, in Java of a thread, while whoever has just freed the lock ' +
      'asks for it again and wants the same cores. The order of a line that has both is kept by both; but who comes late to it has less.',
  },
  needsServer: true,
  async run(bench) {
    const rows = await together(bench)
    const { cells } = rows[0]!
    const trips = (way: 'toOurs' | 'toTheirs'): number => cells[way]! / rows[2]!.cells['toOurs']!
    return {
      columns: [
        { key: 'rate', title: 'acquisitions/s', digits: 0 },
        { key: 'share', title: 'share %', digits: 1 },
        { key: 'toOurs', title: 'to ours ms', digits: 3 },
        { key: 'toTheirs', title: 'to theirs ms', digits: 3 },
        { key: 'floor', title: 'switch ms', digits: 3 },
      ],
      rows,
      targets: [
        target(
          'our share: 50 % ± 5',
          cells['share'],
          (share) => Math.abs(share - 50) <= 5,
          (share) => `${format(share, 1)} %`,
        ),
        target('to ours ≤ 2 trips, each as holdfast alone', trips('toOurs'), (count) => count <= 2),
        target('to theirs ≤ 2 trips, each as holdfast alone', trips('toTheirs'), (count) => count <= 2),
      ],
    }
  },
}
