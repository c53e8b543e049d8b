import { clientOf, permitsAmounts, permitsDeadlines, permitsGrants, permitsQueue } from '../../keys.js'
import type { Flight } from './sent-command.js'
import type { SimProcess } from './sim-process.js'
import type { Scene, Verdict } from './verdict.js'
import type { PermitsLineKeys } from './sim-kind.js'

export const COUNTED_LINE: PermitsLineKeys = {
  kind: 'semaphore',
  queue: permitsQueue,
  deadlines: permitsDeadlines,
  amounts: permitsAmounts,
  grants: permitsGrants,
}

/** The line of a semaphore on the server. */
interface Snapshot {
  /** The ids of those that are taken. */
  readonly taken: readonly string[]
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
export class PermitsLineOrder {
  readonly #scene: Scene
  readonly #verdict: Verdict
  readonly #keys: PermitsLineKeys
  #before: ReadonlyMap<string, Snapshot> = new Map()

  constructor(scene: Scene, verdict: Verdict, keys: PermitsLineKeys) {
    this.#scene = scene
    this.#keys = keys
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
    const { redis } = this.#scene.server
    const { database } = redis
    const [queue, due] = [database.get(this.#keys.queue(name)), database.get(this.#keys.deadlines(name))]
    const [amounts, value] = [database.get(this.#keys.amounts(name)), redis.execute(['GET', name])]
    const entries = due?.type === 'zset' ? due.sorted.slice({ start: 0, end: due.sorted.size }) : []
    const fields = amounts?.type === 'hash' ? [...amounts.fields] : []
    return {
      taken: this.#keys.taken?.(redis, name) ?? [],
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
    for (const key of [this.#keys.queue(name), this.#keys.deadlines(name), this.#keys.amounts(name)])
      if (database.get(key) !== undefined && database.expiry(key) === undefined)
        this.#verdict.violation('left over', `'${key}' has no expiry`)
  }

  /** Whoever stood before those who have theirs now was dead, or nobody hears for it. */
  #checkOrder(name: string, { op, args }: Flight, before: Snapshot, after: Snapshot): void {
    const has = [...after.granted.keys()].filter((owner) => !before.granted.has(owner))
    const { kind } = this.#keys
    const asker = op === `${kind}/ask` ? String(args[0]) : 'who does not join'
    const asks = op === `${kind}/ask` || op === `${kind}/acquire`
    if (asks && !before.granted.has(asker) && this.#took(before, after)) has.push(asker)
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

  /** Whether whoever asked has more than before, beside what was granted along the line. */
  #took(before: Snapshot, after: Snapshot): boolean {
    if (this.#keys.taken !== undefined) return after.taken.some((id) => !before.taken.includes(id))
    const sum = ({ free, granted }: Snapshot): number => [...granted.values()].reduce((all, some) => all + some, free)
    return sum(after) < sum(before)
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
    const channel = `${this.#keys.grants(name)}:${clientOf(owner)}`
    return process !== undefined && this.#isWell(process) && this.#scene.server.redis.pubsub.count(channel, false) > 0
  }
}
