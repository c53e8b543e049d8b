import { clientOf, limiterGrants, limiterOrder, limiterPlaces } from '../../keys.js'
import type { Flight } from './sent-command.js'
import type { SimProcess } from './sim-process.js'
import type { Scene, Verdict } from './verdict.js'
import type { Reply } from '../../lua/values.js'

/** Who does not ask for so long after it should have, ms, may be passed. */
const LATE = 300
/** Until whoever stands behind it notices, ms. */
const NOTICED = 2000

/** The line of a rate limiter on the server. */
interface Snapshot {
  readonly line: readonly string[]
  /** Until when each counts as in time: it asks by then. */
  readonly asks: ReadonlyMap<string, number>
}

/**
 * Watches those who stand in the line for a rate: each process once; nobody who stands there and asks in time is passed over, nobody
 * who lives loses its place, and every script leaves the line whole.
 */
export class RateLineOrder {
  readonly #scene: Scene
  readonly #verdict: Verdict
  #before: ReadonlyMap<string, Snapshot> = new Map()

  constructor(scene: Scene, verdict: Verdict) {
    this.#scene = scene
    this.#verdict = verdict
  }

  /** Whether this client is next: whoever stands before it has been late for so long that somebody must have noticed. */
  isNext(name: string, client: string): boolean {
    const { line, asks } = this.#snapshot(name)
    const late = (owner: string): boolean => (asks.get(owner) ?? 0) + LATE + NOTICED < this.#now
    return line.every((owner, place) => late(owner) || line.slice(0, place + 1).some((one) => clientOf(one) === client))
  }

  #snapshot(name: string): Snapshot {
    const { database } = this.#scene.server.redis
    const [order, places] = [database.get(limiterOrder(name)), database.get(limiterPlaces(name))]
    const entries = order?.type === 'zset' ? order.sorted.slice({ start: 0, end: order.sorted.size }) : []
    const fields = places?.type === 'hash' ? [...places.fields] : []
    return {
      line: entries.map(({ member }) => member),
      asks: new Map(fields.map(([owner, text]) => [owner, Number(text.split(' ')[1])])),
    }
  }

  #snapshots(): ReadonlyMap<string, Snapshot> {
    const { machine } = this.#scene.server
    return machine.observe(() => new Map(this.#scene.locks.map((name) => [name, this.#snapshot(name)])))
  }

  executing(): void {
    this.#before = this.#snapshots()
  }

  executed(flight: Flight, reply: Reply | Error): void {
    for (const [name, after] of this.#snapshots()) {
      const before = this.#before.get(name)
      if (before === undefined || !flight.keys.includes(name)) continue
      this.#checkShape(name, after)
      this.#checkOrder(name, flight, before, reply)
      this.#checkPlaces(name, flight, before, after)
    }
  }

  #checkShape(name: string, { line, asks }: Snapshot): void {
    const clients = new Set(line.map(clientOf))
    if (line.length !== asks.size || line.some((owner) => !asks.has(owner)))
      this.#verdict.violation('shape', `the line for '${name}' is ${line.join()}, known are ${[...asks.keys()].join()}`)
    // Beside the one that is being left.
    if (this.#scene.calm && line.length > clients.size + 1)
      this.#verdict.violation('shape', `a process stands in the line for '${name}' twice: ${line.join()}`)
    const { database } = this.#scene.server.redis
    for (const key of [limiterOrder(name), limiterPlaces(name)])
      if (database.get(key) !== undefined && database.expiry(key) === undefined)
        this.#verdict.violation('left over', `'${key}' has no expiry`)
  }

  /** Whoever stood before those who are served now was late, or nobody hears for it. */
  #checkOrder(name: string, { op, args }: Flight, before: Snapshot, reply: Reply | Error): void {
    if (!['rate-limiter/ask', 'rate-limiter/take'].includes(op) || reply instanceof Error) return
    if (Number((reply as Reply[])[0]) <= 0) return
    const asker = op === 'rate-limiter/ask' ? String(args[0]) : 'who does not join'
    const place = before.line.indexOf(asker)
    for (const other of place === -1 ? before.line : before.line.slice(0, place)) {
      if (!this.#isReachable(other, name) || (before.asks.get(other) ?? 0) + LATE < this.#now) continue
      const who = [asker, other].map((one) => `…${one.slice(-6)}`)
      this.#verdict.violation('fairness', `${who[0]} has permits of '${name}' before ${who[1]}, which came first`)
    }
  }

  #checkPlaces(name: string, { op, args }: Flight, before: Snapshot, after: Snapshot): void {
    for (const owner of before.line) {
      if (after.line.includes(owner) || args.includes(owner)) continue
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
    const channel = `${limiterGrants(name)}:${clientOf(owner)}`
    return process !== undefined && this.#isWell(process) && this.#scene.server.redis.pubsub.count(channel, false) > 0
  }
}
