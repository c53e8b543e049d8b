import type { Held, SimProcess } from './sim-process.js'
import type { ServerWatch } from './server-watch.js'
import type { Scene, Verdict } from './verdict.js'

/** Timers that were due while it stood still come so much later at most. */
const TIMER_LATE = 2
/** How often clocks are compared, and a little. */
const LOOK = 1100
/** A trip and its replies, slow ones as well. */
const TOLD_LATE = 100

/** Watches for how long holds trust themselves, and whether they are told in time that they are gone. */
export class TrustWatch {
  readonly #scene: Scene
  readonly #verdict: Verdict
  readonly #server: ServerWatch
  /** When what the server granted to a process at a moment was first told there, on its own clock. */
  readonly #firstTold = new Map<string, number>()

  constructor(scene: Scene, verdict: Verdict, server: ServerWatch) {
    this.#scene = scene
    this.#verdict = verdict
    this.#server = server
  }

  /** When what is now this owner's was first told to its process. */
  toldAt({ name, machine }: SimProcess, lock: string, wire: string): number {
    const granted = `${name} ${lock} ${this.#server.grantedAt.get(wire)}`
    const told = this.#firstTold.get(granted) ?? machine.time
    this.#firstTold.set(granted, told)
    return told
  }

  check(held: Held): void {
    const { hold, process, name, wire } = held
    const { machine } = process
    const there = this.#server.holders(name).includes(wire)
    if (!this.#scene.probing) {
      if (there || this.#server.isDisturbed(held) || hold.signal.aborted) return
      // Its timer may be on its way; a short lease leaves less room than a timer takes.
      const { lease } = hold.terms
      if (lease < 60 || machine.time - machine.lastWokenAt < TIMER_LATE) return
      // Timers do not see that the machine was suspended; that is looked for once a second.
      if (this.#scene.world.now < machine.suspendedUntil + LOOK) return
      this.#verdict.violation('trust', `${held.call} was not told before the server gave '${name}' away`)
      return
    }
    const remaining = machine.observe(() => hold.remaining())
    if (remaining > 0 && held.everLost)
      this.#verdict.violation('trust', `${held.call} was lost, and says it is held again`)
    if (remaining > 0 && !this.#server.isDisturbed(held) && !there)
      this.#verdict.violation(
        'trust',
        `${held.call} trusts '${name}' for ${remaining.toFixed(1)} ms more, and the server does not`,
      )
    if (remaining > 0 && !there && this.#isTold(held))
      this.#verdict.violation('trust', `${held.call} was not told within a third of its lease that '${name}' is gone`)
    if (remaining <= 0) held.everLost = true
    const fit = hold.state === 'held' && hold.terms.watched && remaining < hold.terms.lease * 0.4
    if (fit) this.#verdict.violation('trust', `${held.call} says held although its renewal is overdue`)
  }

  /** Whether a renewal was due since somebody took it, and nothing kept it from being asked. */
  #isTold({ hold, name, process, wire }: Held): boolean {
    const { lease, watched } = hold.terms
    const taken = this.#server.disturbedAt.get(name) ?? Infinity
    const quiet = Math.max(process.troubledUntil, process.blockedUntil, process.machine.lastWokenAt) < taken - lease
    // Its grant may have been on its way when it was taken: nothing is asked about what is not known here.
    const known = Math.max(taken, this.toldAt(process, name, wire))
    const asked = this.#scene.world.now - known > lease / 3 + TOLD_LATE
    return watched && hold.state === 'held' && quiet && process.refusedAt.length === 0 && asked
  }
}
