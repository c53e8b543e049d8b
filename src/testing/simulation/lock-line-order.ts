import type { Flight } from './sent-command.js'
import { FAIR_LINE } from './exclusive-kinds.js'
import type { SimProcess } from './sim-process.js'
import type { Scene, Verdict } from './verdict.js'
import type { LineKeys } from './sim-kind.js'

/** Who waits for a lock on the server, and until when each counts as alive. */
interface Snapshot {
  readonly holders: readonly string[]
  /** Whose last millisecond it was: nobody else could come in, and whoever makes it longer then goes on. */
  readonly ending: readonly string[]
  readonly line: readonly string[]
  readonly deadlines: ReadonlyMap<string, number>
  readonly expiry: number
}

const NOBODY: Snapshot = { holders: [], ending: [], line: [], deadlines: new Map(), expiry: 0 }
/** Nobody is before who goes on with what it has: a hold that is passed on, a read under a write of its own. */
const GOES_ON = /pass$|\/read-under-write$/
/** By these an owner leaves the line of its own will. */
const LEAVES = ['/leave', '/release', '/confirm', '/cancel', '/enqueue', '/force-release']

/** Who asks for a place, among other words. */
const joiners = ({ op, args }: Flight): readonly string[] => {
  const joins = op.endsWith('/enqueue') || (/^(read-write-|keyed-)?lock\/ask$/.test(op) && String(args[0]) === '1')
  return joins ? args.map(String) : []
}

export const isStranger = (wire: string): boolean => wire.charAt(14) === '4'

/** Watches the line of each lock: nobody passes another, nobody who lives vanishes, and every script leaves it whole. */
export class LockLineOrder {
  readonly #scene: Scene
  readonly #verdict: Verdict
  readonly #keys: LineKeys
  readonly #known = new Map<string, Snapshot>()
  #before = NOBODY
  /** Who was taken out by another's script or by an expiry; what says so where nothing excuses it. */
  readonly #evicted = new Map<string, string | undefined>()
  /** Whoever has had the lock, by the name of its place. */
  readonly #had = new Set<string>()
  /** Who stood before one that had it from hand to hand, and is of the same process; and which one. */
  readonly #passed = new Map<string, string>()

  constructor(scene: Scene, verdict: Verdict) {
    this.#scene = scene
    this.#verdict = verdict
    this.#keys = scene.kinds.find(({ fair }) => fair)?.line ?? FAIR_LINE
  }

  /** Whether these are the keys of its line. */
  isOf(name: string, keys: readonly unknown[]): boolean {
    return keys.includes(this.#keys.queue(name))
  }

  line(name: string): readonly string[] {
    const value = this.#scene.server.redis.database.get(this.#keys.queue(name))
    return value?.type === 'list' ? value.items : []
  }

  /** It is free, and one of Redisson's is first in the line who is not overdue: nobody else can have it. */
  isReserved(name: string): boolean {
    const [head] = this.line(name)
    if (head === undefined || !isStranger(head)) return false
    return (this.#snapshot(name, []).deadlines.get(head) ?? 0) > this.#now
  }

  get #now(): number {
    const { machine } = this.#scene.server
    return machine.observe(() => machine.now())
  }

  #snapshot(name: string, holders: readonly string[]): Snapshot {
    const { redis, machine } = this.#scene.server
    const [kind] = this.#scene.kinds
    return machine.observe(() => {
      const zset = redis.database.get(this.#keys.deadlines(name))
      const entries = zset?.type === 'zset' ? zset.sorted.slice({ start: 0, end: zset.sorted.size }) : []
      return {
        holders,
        ending: kind?.ending?.(redis, name) ?? [],
        line: [...this.line(name)],
        deadlines: new Map(entries.map(({ member, score }) => [member, score])),
        expiry: Number(redis.database.expiry(name) ?? 0),
      }
    })
  }

  /** Nothing is known of any line any more: all data was lost. */
  forget(): void {
    this.#known.clear()
  }

  executing(name: string, flight: Flight, holders: readonly string[]): void {
    this.#before = this.#snapshot(name, holders)
    for (const wire of this.#known.get(name)?.line ?? []) {
      if (!this.#before.line.includes(wire)) this.#vanished(name, wire, 'with an expiry of the whole line')
    }
    for (const wire of joiners(flight)) {
      const why = this.#evicted.get(wire)
      this.#evicted.delete(wire)
      if (why !== undefined && !this.#before.line.includes(wire)) this.#verdict.violation('place', why)
    }
  }

  executed(name: string, flight: Flight, holders: readonly string[]): void {
    const before = this.#before
    const after = this.#snapshot(name, holders)
    this.#known.set(name, after)
    this.#checkShape(name, after)
    this.#checkHolder(name, flight, before, after)
    for (const wire of before.line) {
      if (after.line.includes(wire) || holders.includes(wire)) continue
      const asked = flight.args.includes(wire) || flight.op.endsWith('/force-release')
      if (asked && LEAVES.some((script) => flight.op.endsWith(script))) continue
      this.#vanished(name, wire, `by ${flight.op}`, flight)
    }
    if (GOES_ON.test(flight.op)) return
    const had = [...before.holders, ...before.ending]
    for (const wire of holders) if (!had.includes(wire)) this.#checkOrder(name, wire, flight, holders)
  }

  /** Where one of ours stands, who may be dead like all the others, the line goes away by itself; all of it at once. */
  checkExpiry(name: string): void {
    const { database } = this.#scene.server.redis
    const [queue, deadlines] = [database.expiry(this.#keys.queue(name)), database.expiry(this.#keys.deadlines(name))]
    if (queue !== deadlines || (queue === undefined && !this.line(name).every(isStranger)))
      this.#verdict.violation('left over', `the line for '${name}' has the expiries ${queue} and ${deadlines}`)
  }

  /** A call has it as this wire owner. Those whose places are in `served` had it before, without the server. */
  granted(name: string, wire: string, served: readonly string[]): void {
    const place = served.at(-1) ?? wire
    if (this.#had.has(place)) return
    this.#had.add(place)
    const by = this.#passed.get(place)
    if (by !== undefined)
      this.#verdict.violation('fairness', `…${place.slice(-6)} has '${name}' after …${by.slice(-6)}, which came later`)
    if (place === wire) return
    const line = this.line(name)
    for (const other of line.slice(0, Math.max(0, line.indexOf(place)))) {
      if (other === wire || served.includes(other)) continue
      // Of its own process: it may be leaving.
      if (other.startsWith(wire.slice(0, 36))) this.#passed.set(other, place)
      else
        this.#verdict.violation(
          'fairness',
          `…${place.slice(-6)} has '${name}' from hand to hand before …${other.slice(-6)}, which came first`,
        )
    }
  }

  #vanished(name: string, wire: string, how: string, flight?: Flight): void {
    const deadline = this.#before.deadlines.get(wire) ?? 0
    if (isStranger(wire)) {
      if (flight !== undefined && !flight.op.startsWith('redisson/') && deadline > this.#now)
        this.#verdict.violation('place', `…${wire.slice(-6)} lost its place for '${name}' before it was due, ${how}`)
      return
    }
    const process = this.#of(wire)
    // What an allowance longer than ours took off its deadline is not for us to give back.
    const eroded = !this.#scene.modest && deadline % 1 === 0
    const excused = process === undefined || !this.#isWell(process) || eroded
    this.#evicted.set(wire, excused ? undefined : `…${wire.slice(-6)} lives, and lost its place for '${name}', ${how}`)
  }

  /** The list and the deadlines are about the same owners, and a hold always ends by itself. */
  #checkShape(name: string, { line, deadlines, holders, expiry }: Snapshot): void {
    const whole = new Set(line).size === line.length && line.every((wire) => deadlines.has(wire))
    if (!whole || line.length !== deadlines.size)
      this.#verdict.violation('shape', `the line for '${name}' is ${line.join()}, deadlines ${[...deadlines].join()}`)
    if (holders.length > 0 && expiry === 0) this.#verdict.violation('shape', `'${name}' is held for ever`)
  }

  /** A hold ends by its owner's own script, by force, or with its lease; which nobody else makes shorter. */
  #checkHolder(name: string, flight: Flight, before: Snapshot, after: Snapshot): void {
    if (flight.op.endsWith('/force-release')) return
    const how = `by ${flight.op} ${String(flight.args[0])}`
    // Where many may have it, each has a lease of its own.
    const shared = this.#scene.kinds.some((kind) => kind.shared)
    for (const holder of before.holders) {
      if (flight.args.includes(holder)) continue
      if (!after.holders.includes(holder))
        this.#verdict.violation('exclusion', `…${holder.slice(-6)} had '${name}', which was taken from it ${how}`)
      else if (!shared && after.expiry < before.expiry && flight.op !== 'redisson/expire')
        this.#verdict.violation('exclusion', `the lease of …${holder.slice(-6)} on '${name}' was made shorter ${how}`)
    }
  }

  /** Whoever stood before the new holder was dead or overdue, or nobody hears for it. */
  #checkOrder(name: string, wire: string, flight: Flight, after: readonly string[]): void {
    const { line, holders, deadlines } = this.#before
    const has = new Set([...holders, ...after])
    const place = line.indexOf(wire)
    const before = place === -1 ? line : line.slice(0, place)
    // Who had it on trial stands there too, and who leaves by this very step.
    const leaving = /\/(leave|release)$/.test(flight.op) ? flight.args : flight.args.slice(0, 1)
    const ahead = before.filter((other) => !has.has(other) && !leaving.includes(other))
    for (const other of ahead) {
      const due = deadlines.get(other) ?? 0
      if (isStranger(other) ? flight.op.startsWith('redisson/') || due <= this.#now : !this.#isReachable(other, name))
        continue
      if (!isStranger(other) && !this.#scene.modest && due % 1 === 0) continue
      this.#verdict.violation(
        'fairness',
        `…${wire.slice(-6)} has '${name}' before …${other.slice(-6)}, which came first`,
      )
    }
  }

  #of(wire: string): SimProcess | undefined {
    return this.#scene.processes.find(({ client }) => client?.id === wire.slice(0, 36))
  }

  #isWell({ living, machine, troubledUntil }: SimProcess): boolean {
    return living && !machine.stopped && troubledUntil < this.#scene.world.now
  }

  #isReachable(wire: string, name: string): boolean {
    const process = this.#of(wire)
    const channel = this.#keys.grants(name, wire, this.#scene.server.redis)
    return process !== undefined && this.#isWell(process) && this.#scene.server.redis.pubsub.count(channel, false) > 0
  }
}
