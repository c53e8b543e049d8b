import type { Reply } from '../../engine/engine.js'
import type { Flight } from './fates.js'
import type { SimKind } from './kinds.js'
import type { Held, SimProcess } from './process.js'
import type { Scene, Verdict } from './verdict.js'

/** Replies that take longer are given up by whoever waits for them. */
const LONGEST_TRIP = 1500

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
  /** Since when a living process does not know of what the server has of it. */
  readonly #ghostSince = new Map<string, number>()
  #keysBefore = 0

  constructor(scene: Scene, verdict: Verdict) {
    this.#scene = scene
    this.#verdict = verdict
  }

  holders(name: string): readonly string[] {
    const { server, kinds } = this.#scene
    return server.machine.observe(() => (kinds[0] as SimKind).holders(server.redis, name))
  }

  /** When the server wrote this owner as the holder. */
  writtenAt(wire: string): number {
    return this.#writtenAt.get(wire) ?? 0
  }

  /** Somebody took it by force since the server wrote it, or the data was lost. */
  isDisturbed({ name, wire }: Held): boolean {
    return (this.disturbedAt.get(name) ?? -1) >= this.writtenAt(wire)
  }

  sent(process: SimProcess, flight: Flight): void {
    if (!flight.op.endsWith('/renew') || flight.again) return
    for (const wire of flight.args.slice(1)) {
      if (this.finished.has(String(wire)))
        this.#verdict.violation('renewal', `${process.name} renews …${String(wire).slice(-6)}, which it has given back`)
    }
  }

  executing(flight: Flight): void {
    this.#keysBefore = this.#scene.server.redis.database.size
    if (flight.op.endsWith('/force-release')) this.disturb(flight.keys[0])
    if (flight.op.endsWith('/release') && this.#scene.probing) this.#releasing(String(flight.args[0]))
  }

  executed(process: SimProcess, flight: Flight, reply: Reply | Error): void {
    const { server, world } = this.#scene
    if (flight.op.endsWith('/acquire') && !(reply instanceof Error)) {
      const wire = String(flight.args[0])
      if (this.#asked.has(wire)) this.#verdict.violation('once', `${process.name} asked twice as …${wire.slice(-6)}`)
      this.#asked.add(wire)
    }
    if (flight.op.endsWith('/renew') && server.redis.database.size > this.#keysBefore)
      this.#verdict.violation('renewal', 'a renewal created a key')
    if (flight.op.endsWith('/acquire') && reply === null) {
      this.grantedAt.set(String(flight.args[0]), world.now)
      this.#writtenAt.set(String(flight.args[0]), world.now)
    }
    const freed = flight.op.endsWith('/release') ? reply !== -1 : flight.op.endsWith('/force-release') && reply === 1
    if (freed && !(reply instanceof Error)) this.toldFree.add(flight.keys[0] as string)
    if (flight.op.endsWith('/pass') && reply === 1) {
      const [from, to] = flight.args.map(String) as [string, string]
      const adopted = this.abandoned.delete(from)
      this.#writtenAt.set(to, world.now)
      this.grantedAt.set(to, adopted ? world.now : (this.grantedAt.get(from) ?? world.now))
    }
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
  disturb(name: string | undefined): void {
    const { world, locks } = this.#scene
    for (const lock of name === undefined ? locks : [name]) this.disturbedAt.set(lock, world.now)
    const at = world.now
    // A grant from before may be on its way to its process.
    this.#verdict.events.push({
      at,
      to: at + LONGEST_TRIP,
      what: name === undefined ? 'wiped' : 'forced',
      ...(name !== undefined && { name }),
    })
  }

  check(name: string): void {
    const holders = this.holders(name)
    if (holders.length > 1)
      this.#verdict.violation('exclusion', `the server has two owners of '${name}': ${holders.join(', ')}`)
    for (const wire of holders) this.#checkGhost(name, wire)
    if (holders.length > 0) {
      this.freeSince.delete(name)
      this.toldFree.delete(name)
    }
    if (holders.length === 0 && !this.freeSince.has(name)) this.freeSince.set(name, this.#scene.world.now)
  }

  /** What its process does not know of must go away, and not only when its lease is over. */
  #checkGhost(name: string, wire: string): void {
    const process = this.#scene.processes.find(({ client }) => client?.id === wire.slice(0, 36))
    const known = this.#scene.processes.some(({ holds }) => [...holds].some((held) => held.wire === wire))
    if (known || this.abandoned.has(wire) || process?.living !== true || process.machine.stopped) {
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
