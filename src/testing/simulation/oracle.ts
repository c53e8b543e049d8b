import type { TenureHold } from '../../core/hold/hold.js'
import { LockLostError } from '../../errors.js'
import type { Reply } from '../../lua/values.js'
import { checkClosed, checkError, checkIdle, checkTimely } from './any-call.js'
import type { Flight } from './sent-command.js'
import { isStranger } from './lock-line-order.js'
import type { Party } from './party.js'
import { Aborted, type Call, type Held, type SimProcess } from './sim-process.js'
import type { Step } from './worker-program.js'
import { ServerWatch } from './server-watch.js'
import { TrustWatch } from './trust-watch.js'
import type { Scene, Verdict } from './verdict.js'
import type { Watch } from './watch.js'
import { Worker } from './worker.js'

/** How long a hold may go from hand to hand in one process, with a little for timers. */
const PASS_TIME = 60
/** A poll, and what comes with it. */
const FORGOTTEN = 1500
const FORGOTTEN_WHEN_CALM = 60

/** Watches everything, and says what should not have been. Each rule is a line of "Always true", or follows from one. */
export class Oracle implements Watch {
  readonly server: ServerWatch
  readonly #scene: Scene
  readonly #verdict: Verdict
  readonly #trust: TrustWatch
  /** Wire owners that somebody has had. */
  readonly #given = new Set<string>()
  /** The newest fencing token of each lock, and whose it is. */
  readonly #tokens = new Map<string, { readonly wire: string; readonly token: bigint }>()
  grants = 0

  constructor(scene: Scene, verdict: Verdict) {
    this.#scene = scene
    this.#verdict = verdict
    this.server = new ServerWatch(scene, verdict)
    this.#trust = new TrustWatch(scene, verdict, this.server)
  }

  // ---- what workers tell -------------------------------------------------------------------------------------------

  invoked(call: Call): void {
    this.#verdict.tell(call, 'invoke')
    this.#scene.note(call.process.name, `${call.id} asks for '${call.name}'`)
  }

  granted(call: Call, hold: TenureHold, mayReenter: boolean): Held | undefined {
    const { process, name, id } = call
    checkTimely(call, undefined, this.#verdict)
    if (call.controller?.signal.aborted === true)
      this.#verdict.violation('abort', `${id} has it although it was aborted before`)
    if (process.closing !== undefined) return undefined
    const { wire } = hold.tenure
    this.grants++
    this.server.finished.delete(wire)
    this.#checkTurn(call, wire, mayReenter)
    const held: Held = {
      call: id,
      owner: call.owner,
      name,
      process,
      hold,
      wire,
      since: process.machine.time,
      shared: call.shared,
      told: false,
      everLost: false,
    }
    hold.signal.addEventListener('abort', () => {
      this.#lost(held)
    })
    process.holds.add(held)
    if (this.#inStep(process, wire) && !this.server.isDisturbed(held))
      this.server.line?.granted(name, wire, hold.tenure.served)
    const remaining = process.machine.observe(() => hold.remaining())
    this.#verdict.tell(call, 'granted', { until: this.#scene.world.now + remaining, lease: hold.terms.lease })
    this.#scene.note(process.name, `${id} has '${name}' as …${wire.slice(-6)}, ${remaining.toFixed(0)} ms`)
    if (remaining > 0 && !this.server.isDisturbed(held)) this.#checkToken(held)
    return held
  }

  /** When the pass time is over another process is due. */
  #checkTurn({ process, name, id, since }: Call, wire: string, mayReenter: boolean): void {
    const passedAt = process.machine.time - this.#trust.toldAt(process, name, wire)
    const others = [...process.holds].some((held) => held.wire === wire)
    const late = !mayReenter && !others && passedAt > PASS_TIME && this.#inStep(process, wire)
    if (late && since < process.machine.time - 1 && this.#given.has(wire))
      this.#verdict.violation(
        'turns',
        `${id} had '${name}' passed on ${passedAt.toFixed(1)} ms after it was first had here`,
      )
    this.#given.add(wire)
  }

  /** They grow in the order of holding; levels of one hold may be reported in one tick. */
  #checkToken({ process, hold, wire, name, call }: Held): void {
    const { token } = hold
    if ((token !== undefined) !== (process.kind.fenced === true))
      this.#verdict.violation('fencing', `${call} has '${name}' with token ${token}`)
    if (token === undefined) return
    const last = this.#tokens.get(name)
    if (last !== undefined && (last.wire === wire ? token < last.token : token <= last.token))
      this.#verdict.violation(
        'fencing',
        `${call} has '${name}' with token ${token}, and …${last.wire.slice(-6)} had ${last.token}`,
      )
    this.#tokens.set(name, { wire, token })
  }

  run(worker: string, process: SimProcess, steps: readonly Step[]): Promise<void> {
    return new Worker(worker, process, this, this.#scene.processes).run(steps)
  }

  sent(process: Party, flight: Flight): void {
    this.server.sent(process, flight)
  }

  executing(flight: Flight): void {
    this.server.executing(flight)
  }

  executed(process: Party, flight: Flight, reply: Reply | Error): void {
    this.server.executed(process, flight, reply)
  }

  taken(name: string, foreign?: boolean): void {
    this.server.disturb(name, foreign)
  }

  gone(died: boolean): void {
    this.server.gone(died)
  }

  /** Whatever the server kept is gone. */
  wiped(): void {
    this.#tokens.clear()
    this.server.disturb(undefined)
  }

  /** Its own clock has gone on as the world's did since the server wrote it. */
  #inStep({ machine }: SimProcess, wire: string): boolean {
    return machine.time === this.#scene.world.now && machine.suspendedUntil < (this.server.grantedAt.get(wire) ?? 0)
  }

  refused(call: Call): void {
    this.#verdict.tell(call, 'refused')
    this.#scene.note(call.process.name, `${call.id} does not get '${call.name}'`)
  }

  failed(call: Call, wait: number | undefined, error: unknown): void {
    this.#verdict.tell(call, 'refused')
    this.#scene.note(call.process.name, `${call.id} fails: ${String(error)}`)
    checkTimely(call, wait, this.#verdict)
    if (error instanceof Aborted && call.abortedAt === undefined)
      this.#verdict.violation('abort', `${call.id} was not aborted`)
  }

  /** From here on the worker claims nothing. */
  letsGo(held: Held): void {
    held.process.holds.delete(held)
    if (!held.told) this.#verdict.tell(held, 'releasing')
    this.#scene.note(held.process.name, `${held.call} lets go of '${held.name}'`)
  }

  released(held: Held, freed: boolean): void {
    if (!held.told) this.#verdict.tell(held, freed ? 'released' : 'lost')
    this.#scene.note(held.process.name, `${held.call} is told ${freed ? 'released' : 'not ours'}`)
    const { processes } = this.#scene
    const used = processes.some(({ holds }) => [...holds].some(({ wire }) => wire === held.wire))
    if (!used) this.server.finished.add(held.wire)
    const { machine } = held.process
    // The wall clock shows whole milliseconds.
    if (machine.observe(() => machine.monotonic()) + 1 >= held.hold.overAt) return
    if (freed || this.server.isDisturbed(held) || held.everLost || held.process.closing !== undefined) return
    if (held.process.troubledUntil < held.since && held.process.refusedAt.length === 0)
      this.#verdict.violation('release', `${held.call} was told that its hold is gone, for no reason`)
  }

  detached(held: Held): void {
    if (!held.told) this.#verdict.tell(held, 'released')
    this.server.finished.add(held.wire)
    this.server.abandoned.add(held.wire)
    this.#scene.note(held.process.name, `${held.call} is detached`)
  }

  /** The process is killed, or its client closed: its holds claim nothing any more. */
  ended(process: SimProcess, killed: boolean): void {
    for (const held of process.holds) {
      if (!held.told) this.#verdict.tell(held, killed ? 'crashed' : 'lost')
      held.told = true
    }
    if (killed) for (const call of process.calls) this.#verdict.tell(call, 'crashed')
  }

  #lost(held: Held): void {
    const { process, hold } = held
    if (held.told || !process.holds.has(held)) return
    held.told = true
    held.everLost = true
    this.server.foundOut(held)
    this.#verdict.tell(held, 'lost')
    this.#scene.note(process.name, `${held.call} is told lost: ${String(hold.signal.reason)}`)
    if (!(hold.signal.reason instanceof LockLostError)) return
    const { lease, watched } = hold.terms
    const now = process.machine.time
    const refusals = process.refusedAt.filter((at) => at > now - lease).length
    if (watched && !this.server.isDisturbed(held) && process.blockedUntil < now - lease && refusals < 3)
      this.#verdict.violation('renewal', `${held.call} lost '${held.name}' although nothing kept it from being renewed`)
  }

  judge(process: SimProcess, step: string, error: unknown): void {
    checkError({ process, step, error }, this.#scene, this.#verdict)
  }

  // ---- what is looked at after everything that happens -------------------------------------------------------------

  check(): void {
    const { processes, locks, world } = this.#scene
    for (const name of locks) this.server.check(name)
    for (const process of processes) {
      const { machine } = process
      if (machine.dead || machine.stopped || process.closing !== undefined) continue
      for (const held of process.holds) this.#trust.check(held)
      for (const call of process.calls) this.#checkCall(call, world.now)
    }
  }

  #checkCall(call: Call, now: number): void {
    if (!call.waits) return
    const { process, name } = call
    const freeSince = this.server.freeSince.get(name)
    if (freeSince === undefined) return
    // Whoever has it in this process finds out at the next poll that it was taken away.
    const believed = [...process.holds].some((held) => held.name === name && this.server.isDisturbed(held))
    const noticing = Math.max(this.server.disturbedAt.get(name) ?? -Infinity, believed ? call.since : -Infinity)
    const taken = noticing + FORGOTTEN
    const waited = now - Math.max(freeSince, call.since, process.troubledUntil, process.machine.lastWokenAt, taken)
    if (
      waited >
      (this.#scene.calm && this.#scene.strangers.length === 0 && this.server.toldFree.has(name)
        ? FORGOTTEN_WHEN_CALM + (process.kind.patience ?? 0)
        : FORGOTTEN)
    )
      this.#verdict.violation(
        'forgotten',
        `${call.id} waits for '${name}', which has been free for ${waited.toFixed(0)} ms`,
      )
  }

  // ---- what is left ------------------------------------------------------------------------------------------------

  /** Everybody is done, and nothing went wrong lately: nothing may be kept for what is over. */
  idle(): void {
    const { processes, locks } = this.#scene
    const known = new Set(processes.flatMap(({ holds }) => [...holds].map(({ wire }) => wire)))
    const dead = new Set(
      processes.filter((p) => p.machine.dead || p.closing !== undefined).map((p) => p.client?.id ?? ''),
    )
    for (const name of locks) {
      for (const wire of this.server.holders(name)) {
        if (
          known.has(wire) ||
          this.server.abandoned.has(wire) ||
          dead.has(this.server.clientOf(wire)) ||
          isStranger(wire)
        )
          continue
        this.#verdict.violation(
          'left over',
          `…${wire.slice(-6)} is still on the server in '${name}', and nobody has it`,
        )
      }
    }
    checkIdle(this.#scene, this.#verdict)
  }

  closed(process: SimProcess): void {
    checkClosed(process, this.#verdict)
  }
}
