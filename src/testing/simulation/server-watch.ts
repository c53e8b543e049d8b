import type { Flight } from './sent-command.js'
import { LockLineOrder, isStranger } from './lock-line-order.js'
import type { Party } from './party.js'
import { PermitsLineOrder } from './permits-line-order.js'
import type { Held } from './sim-process.js'
import type { Scene, Verdict } from './verdict.js'
import type { SimKind } from './sim-kind.js'
import type { Reply } from '../../lua/values.js'
import { fencingCounter } from '../../keys.js'

/** Replies that take longer are given up by whoever waits for them. */
const LONGEST_TRIP = 1500

/** How long a writer may have waited while others read before nobody joins them any more. */
const TURN = 100

/** A lost hold is taken back after its margin, and what came too late at once. */
const GHOST = 700

/** Watches what is sent and what the server does: who has what there, since when, and why it is free. */
export class ServerWatch {
  readonly #scene: Scene
  readonly #verdict: Verdict
  /** Since when each lock is free. */
  readonly freeSince = new Map<string, number>()
  /** When the server granted what went from hand to hand since, by wire owner. */
  readonly grantedAt = new Map<string, number>()
  /** Wire owners whose release or loss was told: nothing is done for them any more. */
  readonly finished = new Set<string>()
  /** Wire owners that may be on the server although no living process knows them: until their lease is over. */
  readonly abandoned = new Set<string>()
  /** When each lock was last taken from whoever had it. */
  readonly disturbedAt = new Map<string, number>()
  /** Locks that are free because somebody said so, and not because a lease was over. */
  readonly toldFree = new Set<string>()
  /** When the server wrote them as holders. */
  readonly #writtenAt = new Map<string, number>()
  readonly #asked = new Set<string>()
  /** The client that has it, where that is no part of the owner's name. */
  readonly #clients = new Map<string, string>()
  /** Since when each lock is shared without a pause. */
  readonly #sharedSince = new Map<string, number>()
  /** Since when a living process does not know of what the server has of it. */
  readonly #ghostSince = new Map<string, number>()
  /** Locks at whose key another program's value stands. */
  readonly #foreign = new Set<string>()
  #keysBefore = 0
  #ownersBefore: readonly string[] = []
  /** Where the kinds of this history have one. */
  readonly line: LockLineOrder | undefined
  readonly #permits: PermitsLineOrder | undefined

  constructor(scene: Scene, verdict: Verdict) {
    this.#scene = scene
    this.#verdict = verdict
    this.line = scene.kinds.some(({ fair }) => fair) ? new LockLineOrder(scene, verdict) : undefined
    const permits = this.#kind.permitsLine
    this.#permits = permits && new PermitsLineOrder(scene, verdict, permits)
  }

  holders(name: string): readonly string[] {
    return this.#foreign.has(name) ? [] : this.#owners(name)
  }

  /** All that stand at its key, also beside what another program has written there. */
  #owners(name: string): readonly string[] {
    const { server } = this.#scene
    return server.machine.observe(() => this.#kind.holders(server.redis, name))
  }

  /** When the server wrote this owner as the holder. */
  writtenAt(wire: string): number {
    return this.#writtenAt.get(wire) ?? 0
  }

  /** Somebody took it by force since the server wrote it, or the data was lost. */
  isDisturbed({ name, wire }: Held): boolean {
    return (this.disturbedAt.get(name) ?? -1) >= this.writtenAt(wire)
  }

  sent(process: Party, flight: Flight): void {
    if (!flight.op.endsWith('renew') || flight.again) return
    for (const wire of flight.args.slice(1)) {
      if (this.finished.has(String(wire)))
        this.#verdict.violation('renewal', `${process.name} renews …${String(wire).slice(-6)}, which it has given back`)
    }
  }

  executing(flight: Flight): void {
    if (flight.op.endsWith('renew')) this.#keysBefore = this.#keys()
    const name = this.#nameOf(flight)
    if (name === undefined) return
    this.#ownersBefore = this.#owners(name)
    if (this.#foreign.size === 0) this.#permits?.executing()
    this.line?.executing(name, flight, this.#foreign.has(name) ? [] : this.#ownersBefore)
    if (flight.op.endsWith('/force-release')) this.disturb(name)
    const frees = /\/(read-|write-)?(release|leave)$/.test(flight.op)
    if (frees && this.#scene.probing) this.#releasing(String(flight.args[0]))
  }

  /** How many keys there are, apart from the counters of tokens: a holder puts those back. */
  #keys(): number {
    const { database } = this.#scene.server.redis
    const counters = this.#scene.locks.filter((name) => database.get(fencingCounter(name)) !== undefined)
    return database.size - counters.length
  }

  #nameOf({ keys }: Flight): string | undefined {
    return this.#scene.locks.find((name) => keys.includes(name) || this.line?.isOf(name, keys) === true)
  }

  executed(process: Party, flight: Flight, reply: Reply | Error): void {
    if (flight.op === 'lock/acquire' && !(reply instanceof Error)) {
      const wire = String(flight.args[0])
      if (this.#asked.has(wire)) this.#verdict.violation('once', `${process.name} asked twice as …${wire.slice(-6)}`)
      this.#asked.add(wire)
    }
    if (flight.op.endsWith('renew')) {
      if (this.#keys() > this.#keysBefore) this.#verdict.violation('renewal', 'a renewal created a key')
      return
    }
    const name = this.#nameOf(flight)
    if (name === undefined) return
    const owners = this.#owners(name)
    this.line?.executed(name, flight, this.#foreign.has(name) ? [] : owners)
    if (this.#foreign.size === 0) this.#permits?.executed(flight)
    if (this.#isFree(owners) && !this.#isFree(this.#ownersBefore)) this.toldFree.add(name)
    for (const wire of owners) {
      if (this.#ownersBefore.includes(wire)) continue
      const asker = this.#scene.processes.find((one) => one === process)
      if (this.#kind.permits !== undefined) this.#clients.set(wire, asker?.client?.id ?? '')
      this.#written(name, wire, flight)
    }
  }

  get #kind(): SimKind {
    return this.#scene.kinds[0] as SimKind
  }

  #isFree(holders: readonly string[], onTrial = 0): boolean {
    return holders.length + onTrial < (this.#kind.permits ?? 1)
  }

  #onTrial(name: string): number {
    const { server } = this.#scene
    return server.machine.observe(() => this.#kind.onTrial?.(server.redis, name) ?? 0)
  }

  /** Who has it. */
  clientOf(wire: string): string {
    return this.#clients.get(wire) ?? wire.slice(0, 36)
  }

  /** The server has a new holder. */
  #written(name: string, wire: string, flight: Flight): void {
    const { now } = this.#scene.world
    const from = flight.op.endsWith('pass') ? String(flight.args[0]) : undefined
    const passed = from !== undefined && !this.abandoned.delete(from)
    this.grantedAt.set(wire, passed ? (this.grantedAt.get(from) ?? now) : now)
    // Its turn is its own wherever it stands; more is not said by a key where another program's value stands as well.
    if (this.#foreign.has(name)) return
    this.#writtenAt.set(wire, now)
    this.#ghostSince.delete(wire)
    const joins = flight.op === 'read-write-lock/acquire' && !wire.endsWith(':write')
    if (joins && this.#scene.calm) this.#noneStarves(name, wire)
  }

  /** Who joins those who share a lock does not do so past one who waits to have it alone. */
  #noneStarves(name: string, wire: string): void {
    const long = this.#scene.world.now - TURN
    if ((this.#sharedSince.get(name) ?? Infinity) > long) return
    for (const { calls, holds } of this.#scene.processes) {
      // Who believes that it has the lock has not asked: it finds out that it was taken away at its next renewal or poll.
      if ([...holds].some((held) => held.name === name && !held.told && this.isDisturbed(held))) continue
      const waits = [...calls].filter((call) => call.name === name && call.waits && call.abortedAt === undefined)
      const starving = waits.find((call) => !call.shared && call.since < long)
      if (starving !== undefined)
        this.#verdict.violation('fairness', `…${wire.slice(-6)} joins who reads '${name}', and ${starving.id} waits`)
    }
  }

  /** From now on it asks, for all who wait in its process. */
  foundOut(held: Held): void {
    if (this.isDisturbed(held)) this.#sharedSince.delete(held.name)
  }

  #releasing(wire: string): void {
    for (const { holds, machine } of this.#scene.processes) {
      for (const held of holds) {
        if (held.wire !== wire || machine.stopped || this.isDisturbed(held)) continue
        if (machine.observe(() => held.hold.remaining()) > 0)
          this.#verdict.violation('release', `${held.call} holds '${held.name}', and it is being released under it`)
      }
    }
  }

  /** The lock, or all of them, is not on the server any more, and no holder was asked. */
  disturb(name: string | undefined, foreign?: boolean): void {
    const { world, locks } = this.#scene
    if (name !== undefined && foreign === true) this.#foreign.add(name)
    else if (name !== undefined && foreign === false) this.#foreign.delete(name)
    for (const lock of name === undefined ? locks : [name]) this.disturbedAt.set(lock, world.now)
    if (name === undefined) this.line?.forget()
    const at = world.now
    // A grant from before may be on its way to its process, which may stand still.
    const noticed = Math.max(...this.#scene.processes.map(({ machine }) => machine.time), at)
    this.#verdict.events.push({
      at,
      to: noticed + LONGEST_TRIP,
      what: name === undefined ? 'wiped' : 'forced',
      ...(name !== undefined && { name }),
    })
  }

  check(name: string): void {
    if (this.#foreign.has(name)) {
      this.freeSince.delete(name)
      return
    }
    const holders = this.holders(name)
    const kind = this.#kind
    if (holders.length > (kind.permits ?? 1) && kind.shared !== true)
      this.#verdict.violation('exclusion', `the server has too many owners of '${name}': ${holders.join(', ')}`)
    const malformed = this.#scene.server.machine.observe(() => kind.malformed?.(this.#scene.server.redis, name))
    if (malformed !== undefined) this.#verdict.violation('exclusion', `'${name}': ${malformed}`)
    const shared = holders.length > 0 && kind.shared === true && !holders.some((wire) => wire.endsWith(':write'))
    if (!shared) this.#sharedSince.delete(name)
    else if (!this.#sharedSince.has(name)) this.#sharedSince.set(name, this.#scene.world.now)
    for (const wire of holders) this.#checkGhost(name, wire)
    if (!this.#isFree(holders, this.#onTrial(name)) || this.line?.isReserved(name) === true) {
      this.freeSince.delete(name)
      this.toldFree.delete(name)
      return
    }
    if (!this.freeSince.has(name)) this.freeSince.set(name, this.#scene.world.now)
  }

  /** All are closed, and all leases are over. `died`: some did not live to close in order. */
  gone(died: boolean): void {
    const { locks, calm } = this.#scene
    const { redis } = this.#scene.server
    for (const name of locks) {
      const kept =
        this.#kind.permits === undefined ? redis.database.get(name) !== undefined : this.holders(name).length > 0
      if (kept) this.#verdict.violation('left over', `the key '${name}'`)
      const left = this.line?.line(name) ?? []
      // Who died in the line, or was closed out of reach, stands there until somebody else comes.
      const wrong = left.filter((wire) => (isStranger(wire) ? calm : !died))
      if (wrong.length > 0) this.#verdict.violation('left over', `${wrong.join(', ')} in the line for '${name}'`)
      this.line?.checkExpiry(name)
    }
    const channels = redis.pubsub.channels(false)
    if (channels.length > 0) this.#verdict.violation('left over', `subscriptions to ${channels.join(', ')}`)
  }

  /** What its process does not know of must go away, and not only when its lease is over. */
  #checkGhost(name: string, wire: string): void {
    const process = this.#scene.processes.find(({ client }) => client?.id === this.clientOf(wire))
    const known = this.#scene.processes.some(({ holds }) => [...holds].some((held) => held.wire === wire))
    const onTrial = this.line?.line(name).includes(wire) === true
    if (known || onTrial || this.abandoned.has(wire) || process?.living !== true || process.machine.stopped) {
      this.#ghostSince.delete(wire)
      return
    }
    const { now } = this.#scene.world
    const since = this.#ghostSince.get(wire) ?? now
    this.#ghostSince.set(wire, since)
    if (now - Math.max(since, process.troubledUntil, process.machine.lastWokenAt) > GHOST)
      this.#verdict.violation(
        'left over',
        `the server has …${wire.slice(-6)} in '${name}', and ${process.name} does not`,
      )
  }
}
