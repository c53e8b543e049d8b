import { clientOf, permitsAmounts, permitsDeadlines, permitsGrants, permitsQueue } from '../../keys.js'
import type { Flight } from './fates.js'
import type { SimProcess } from './process.js'
import type { Scene, Verdict } from './verdict.js'

/** The line of a semaphore on the server. */
interface Snapshot {
  readonly free: number
  readonly line: readonly string[]
  readonly deadlines: ReadonlyMap<string, number>
  /** How many permits each has on trial. */
  readonly granted: ReadonlyMap<string, number>
}

/**
 * Watches those who stand in the line for permits: each process once; nobody who stands there and can be reached is passed over, nobody
 * who lives loses its place, and every script leaves the line whole.
 */
export class PermitsLine {
  readonly #scene: Scene
  readonly #verdict: Verdict
  #before: ReadonlyMap<string, Snapshot> = new Map()

  constructor(scene: Scene, verdict: Verdict) {
    this.#scene = scene
    this.#verdict = verdict
  }

  /** What was granted to some who have not said that they have it, or do not live any more. */
  granted(name: string): number {
    return [...this.#snapshot(name).granted.values()].reduce((sum, amount) => sum + amount, 0)
  }

  first(name: string): string | undefined {
    return this.#snapshot(name).line[0]
  }

  #snapshot(name: string): Snapshot {
    const { database } = this.#scene.server.redis
    const [queue, due] = [database.get(permitsQueue(name)), database.get(permitsDeadlines(name))]
    const [amounts, value] = [database.get(permitsAmounts(name)), this.#scene.server.redis.execute(['GET', name])]
    const entries = due?.type === 'zset' ? due.sorted.slice({ start: 0, end: due.sorted.size }) : []
    const fields = amounts?.type === 'hash' ? [...amounts.fields] : []
    return {
      free: Number(value),
      line: queue?.type === 'list' ? [...queue.items] : [],
      deadlines: new Map(entries.map(({ member, score }) => [member, score])),
      granted: new Map(fields.map(([owner, text]) => [owner, Number(text)] as const).filter(([, some]) => some > 0)),
    }
  }

  #snapshots(): ReadonlyMap<string, Snapshot> {
    const { machine } = this.#scene.server
    return machine.observe(() => new Map(this.#scene.locks.map((name) => [name, this.#snapshot(name)])))
  }

  executing(): void {
    this.#before = this.#snapshots()
  }

  executed(flight: Flight): void {
    for (const [name, after] of this.#snapshots()) {
      const before = this.#before.get(name)
      if (before === undefined || !flight.keys.includes(name)) continue
      this.#checkShape(name, after)
      this.#checkOrder(name, flight, before, after)
      this.#checkPlaces(name, flight, before, after)
    }
  }

  #checkShape(name: string, { line, deadlines, granted }: Snapshot): void {
    const all = new Set([...line, ...granted.keys()])
    const clients = new Set(line.map(clientOf))
    if (
      all.size !== line.length + granted.size ||
      all.size !== deadlines.size ||
      [...all].some((one) => !deadlines.has(one))
    )
      this.#verdict.violation(
        'shape',
        `the line for '${name}' is ${line.join()}, granted ${[...granted.keys()].join()}`,
      )
    // Beside the one that is being left.
    if (this.#scene.calm && line.length > clients.size + 1)
      this.#verdict.violation('shape', `a process stands in the line for '${name}' twice: ${line.join()}`)
    const { database } = this.#scene.server.redis
    for (const key of [permitsQueue(name), permitsDeadlines(name), permitsAmounts(name)])
      if (database.get(key) !== undefined && database.expiry(key) === undefined)
        this.#verdict.violation('left over', `'${key}' has no expiry`)
  }

  /** Whoever stood before those who have theirs now was dead, or nobody hears for it. */
  #checkOrder(name: string, { op, args }: Flight, before: Snapshot, after: Snapshot): void {
    const has = [...after.granted.keys()].filter((owner) => !before.granted.has(owner))
    const asker = op === 'semaphore/ask' ? String(args[0]) : 'who does not join'
    if ((op === 'semaphore/ask' || op === 'semaphore/acquire') && !before.granted.has(asker)) {
      const sum = ({ free, granted }: Snapshot): number => [...granted.values()].reduce((all, some) => all + some, free)
      if (sum(after) < sum(before)) has.push(asker)
    }
    for (const owner of has) {
      const place = before.line.indexOf(owner)
      for (const other of place === -1 ? before.line : before.line.slice(0, place)) {
        if (has.includes(other) || args.includes(other) || !this.#isReachable(other, name)) continue
        if ((before.deadlines.get(other) ?? 0) <= this.#now) continue
        const who = [owner, other].map((one) => `…${one.slice(-6)}`)
        this.#verdict.violation('fairness', `${who[0]} has permits of '${name}' before ${who[1]}, which came first`)
      }
    }
  }

  #checkPlaces(name: string, { op, args }: Flight, before: Snapshot, after: Snapshot): void {
    for (const owner of before.line) {
      if (after.line.includes(owner) || after.granted.has(owner) || args.includes(owner)) continue
      const process = this.#of(owner)
      // What was left without an answer is nobody's any more.
      if (process === undefined || !this.#isWell(process) || !this.#waits(process, name)) continue
      this.#verdict.violation('place', `…${owner.slice(-6)} lives, and lost its place for '${name}', by ${op}`)
    }
  }

  get #now(): number {
    const { machine } = this.#scene.server
    return machine.observe(() => machine.now())
  }

  #waits({ calls }: SimProcess, name: string): boolean {
    return [...calls].some((call) => call.name === name)
  }

  #of(owner: string): SimProcess | undefined {
    return this.#scene.processes.find(({ client }) => client?.id === clientOf(owner))
  }

  #isWell({ living, machine, troubledUntil }: SimProcess): boolean {
    return living && !machine.stopped && troubledUntil < this.#scene.world.now
  }

  #isReachable(owner: string, name: string): boolean {
    const process = this.#of(owner)
    const channel = `${permitsGrants(name)}:${clientOf(owner)}`
    return process !== undefined && this.#isWell(process) && this.#scene.server.redis.pubsub.count(channel, false) > 0
  }
}
