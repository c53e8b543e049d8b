import type { TenureHold } from '../../core/hold.js'
import {
  AcquireTimeoutError,
  BusyError,
  ClosedError,
  DeadlockError,
  EngineError,
  HoldfastError,
  LockLostError,
} from '../../errors.js'
import { NotOwnerError } from '../../errors.js'
import type { Reply } from '../../engine/engine.js'
import type { HistoryEvent } from '../history/events.js'
import type { SimKind } from './kinds.js'
import type { Flight, SimServer } from './network.js'
import { Aborted, type Call, type Held, type SimProcess } from './process.js'
import type { World } from './world.js'

export interface OracleOptions {
  readonly world: World
  readonly server: SimServer
  readonly processes: readonly SimProcess[]
  readonly kinds: readonly SimKind[]
  readonly locks: readonly string[]
  /** Nothing goes wrong in this history: what is late has no excuse. */
  readonly calm: boolean
  /** Whether holds are asked all the time, or only their signals looked at. */
  readonly probing: boolean
  note(who: string, text: string): void
}

/** How long a hold may go from hand to hand in one process, with a little for the server's side of it. */
const PASS_TIME = 62
/** Of an idle client: for its label, and for the reply to its last command. */
const MOST_TIMERS = 2
/** A call that is aborted or too late may wait so long for the reply that is on its way, and then for its timer. */
const GRACE = 50 + 5
/** Replies that take longer are given up by whoever waits for them. */
const LONGEST_TRIP = 1500
/** Timers that were due while it stood still come so much later at most. */
const TIMER_LATE = 2
/** How often clocks are compared, and a little. */
const LOOK = 1100
/** A poll, and what comes with it. */
const FORGOTTEN = 1500
const FORGOTTEN_WHEN_CALM = 60

/** Watches everything, and says what should not have been. Each rule is a line of "Always true", or follows from one. */
export class Oracle {
  readonly violations: string[] = []
  readonly events: HistoryEvent[] = []
  readonly #options: OracleOptions
  readonly #freeSince = new Map<string, number>()
  /** When the server granted what went from hand to hand since, by wire owner. */
  readonly #chains = new Map<string, number>()
  /** Wire owners whose release or loss was told: nothing is done for them any more. */
  readonly #finished = new Set<string>()
  readonly #acquired = new Set<string>()
  /** When the server wrote them as holders. */
  readonly #writtenAt = new Map<string, number>()
  /** When each lock was last taken from whoever had it. */
  readonly #disturbedAt = new Map<string, number>()
  /** Wire owners that may be on the server although no living process knows them: until their lease is over. */
  readonly #abandoned = new Set<string>()
  /** Locks that are free because somebody said so, and not because a lease was over. */
  readonly #toldFree = new Set<string>()
  #keysBefore = 0
  grants = 0

  constructor(options: OracleOptions) {
    this.#options = options
  }

  violation(rule: string, text: string): void {
    if (this.violations.length >= 5) return
    this.#options.note('!', `VIOLATION (${rule}): ${text}`)
    this.violations.push(`${rule}: ${text}`)
  }

  // ---- what workers tell -------------------------------------------------------------------------------------------

  invoked(call: Call): void {
    this.#tell(call, 'invoke')
    this.#options.note(call.process.name, `${call.id} asks for '${call.name}'`)
  }

  granted(call: Call, hold: TenureHold, mayReenter: boolean): Held | undefined {
    const { process, name, id } = call
    this.#timely(call, undefined)
    if (call.controller?.signal.aborted === true) this.violation('abort', `${id} has it although it was aborted before`)
    if (process.closing !== undefined) return undefined
    const { wire } = hold.tenure
    this.grants++
    this.#finished.delete(wire)
    const passedAt = process.machine.time - (this.#chains.get(wire) ?? Infinity)
    const others = [...process.holds].some((held) => held.wire === wire)
    if (!mayReenter && !others && passedAt > PASS_TIME && process.machine.time === this.#options.world.now) {
      if (call.since < process.machine.time - 1 && this.#acquired.has(`${wire} given`))
        this.violation('turns', `${id} had '${name}' passed on ${passedAt.toFixed(1)} ms after the server granted it`)
    }
    this.#acquired.add(`${wire} given`)
    const held: Held = {
      call: id,
      owner: call.owner,
      name,
      process,
      hold,
      wire,
      since: process.machine.time,
      told: false,
      everLost: false,
    }
    hold.signal.addEventListener('abort', () => {
      this.#lost(held)
    })
    process.holds.add(held)
    const remaining = process.machine.observe(() => hold.remaining())
    this.#tell(call, 'granted', { until: process.machine.time + remaining, lease: hold.terms.lease })
    this.#options.note(process.name, `${id} has '${name}' as …${wire.slice(-6)}, ${remaining.toFixed(0)} ms`)
    return held
  }

  refused(call: Call): void {
    this.#tell(call, 'refused')
    this.#options.note(call.process.name, `${call.id} does not get '${call.name}'`)
  }

  failed(call: Call, wait: number | undefined, error: unknown): void {
    this.#tell(call, 'refused')
    this.#options.note(call.process.name, `${call.id} fails: ${String(error)}`)
    this.#timely(call, wait)
    if (error instanceof Aborted && call.abortedAt === undefined) this.violation('abort', `${call.id} was not aborted`)
  }

  /** From here on the worker claims nothing. */
  letsGo(held: Held): void {
    held.process.holds.delete(held)
    if (!held.told) this.#tell(held, 'releasing')
    this.#options.note(held.process.name, `${held.call} lets go of '${held.name}'`)
  }

  released(held: Held, freed: boolean): void {
    if (!held.told) this.#tell(held, freed ? 'released' : 'lost')
    this.#options.note(held.process.name, `${held.call} is told ${freed ? 'released' : 'not ours'}`)
    const { processes } = this.#options
    const used = processes.some(({ holds }) => [...holds].some(({ wire }) => wire === held.wire))
    if (!used) this.#finished.add(held.wire)
    const { lease, watched } = held.hold.terms
    // Over by the clock, or so short that it may be.
    if (!watched && (lease < 60 || held.process.machine.time - held.since > lease * 0.8)) return
    if (freed || this.#isDisturbed(held) || held.everLost || held.process.closing !== undefined) return
    if (held.process.troubledUntil < held.since && held.process.refusedAt.length === 0)
      this.violation('release', `${held.call} was told that its hold is gone, for no reason`)
  }

  detached(held: Held): void {
    if (!held.told) this.#tell(held, 'released')
    this.#finished.add(held.wire)
    this.#abandoned.add(held.wire)
    this.#options.note(held.process.name, `${held.call} is detached`)
  }

  /** The process is killed, or its client closed: its holds claim nothing any more. */
  ended(process: SimProcess, killed: boolean): void {
    for (const held of process.holds) {
      if (!held.told) this.#tell(held, killed ? 'crashed' : 'lost')
      held.told = true
    }
    if (killed) for (const call of process.calls) this.#tell(call, 'crashed')
  }

  #lost(held: Held): void {
    const { process, hold } = held
    if (held.told || !process.holds.has(held)) return
    held.told = true
    held.everLost = true
    this.#tell(held, 'lost')
    this.#options.note(process.name, `${held.call} is told lost: ${String(hold.signal.reason)}`)
    if (!(hold.signal.reason instanceof LockLostError)) return
    const { lease, watched } = hold.terms
    const now = process.machine.time
    const refusals = process.refusedAt.filter((at) => at > now - lease).length
    if (watched && !this.#isDisturbed(held) && process.troubledUntil < now - lease && refusals < 3)
      this.violation('renewal', `${held.call} lost '${held.name}' although nothing kept it from being renewed`)
  }

  /** Somebody took it by force since the server wrote it, or the data was lost. */
  #isDisturbed({ name, wire }: Held): boolean {
    return (this.#disturbedAt.get(name) ?? -1) >= (this.#writtenAt.get(wire) ?? 0)
  }

  judge(process: SimProcess, step: string, error: unknown): void {
    const faulty = !this.#options.calm
    const closed = this.#options.processes.some(({ closing }) => closing !== undefined)
    if (error instanceof ClosedError && closed) return
    // A step may take again what an earlier one of its worker never gave back.
    if (error instanceof HoldfastError && error.code === 'NESTED_HOLD') return
    if (error instanceof AcquireTimeoutError || error instanceof LockLostError || error instanceof Aborted) return
    if (error instanceof NotOwnerError || error instanceof DeadlockError) return
    if (error instanceof BusyError && process.plan.maxWaiters !== Infinity) return
    if (error instanceof EngineError && faulty) return
    this.violation('error', `${step} met ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  }

  /** Limits hold at every await. */
  #timely(call: Call, wait: number | undefined): void {
    const { process } = call
    if (process.machine.dead || process.machine.lastWokenAt > call.since) return
    const now = process.machine.time
    if (wait !== undefined && wait > 0 && now - call.since > wait + GRACE)
      this.violation('limit', `${call.id} came back after ${(now - call.since).toFixed(0)} ms, its limit was ${wait}`)
    if (call.abortedAt !== undefined && now - call.abortedAt > GRACE)
      this.violation('limit', `${call.id} came back ${(now - call.abortedAt).toFixed(0)} ms after its abort`)
  }

  // ---- what the network tells --------------------------------------------------------------------------------------

  sent(process: SimProcess, flight: Flight): void {
    if (!flight.op.endsWith('/renew') || flight.again) return
    for (const wire of flight.args.slice(1)) {
      if (this.#finished.has(String(wire)))
        this.violation('renewal', `${process.name} renews …${String(wire).slice(-6)}, which it has given back`)
    }
  }

  executing(flight: Flight): void {
    this.#keysBefore = this.#options.server.redis.database.size
    if (flight.op.endsWith('/force-release')) this.disturb(flight.keys[0])
    if (flight.op.endsWith('/release') && this.#options.probing) this.#releasing(String(flight.args[0]))
  }

  executed(process: SimProcess, flight: Flight, reply: Reply | Error): void {
    const { server, world } = this.#options
    if (flight.op.endsWith('/acquire') && !(reply instanceof Error)) {
      const wire = String(flight.args[0])
      if (this.#acquired.has(wire)) this.violation('once', `${process.name} asked twice as …${wire.slice(-6)}`)
      this.#acquired.add(wire)
    }
    if (flight.op.endsWith('/renew') && server.redis.database.size > this.#keysBefore)
      this.violation('renewal', 'a renewal created a key')
    if (flight.op.endsWith('/acquire') && reply === null) {
      this.#chains.set(String(flight.args[0]), world.now)
      this.#writtenAt.set(String(flight.args[0]), world.now)
    }
    const freed = flight.op.endsWith('/release') ? reply !== -1 : flight.op.endsWith('/force-release') && reply === 1
    if (freed && !(reply instanceof Error)) this.#toldFree.add(flight.keys[0] as string)
    if (flight.op.endsWith('/pass') && reply === 1) {
      const [from, to] = flight.args.map(String) as [string, string]
      const adopted = this.#abandoned.delete(from)
      this.#writtenAt.set(to, world.now)
      this.#chains.set(to, adopted ? world.now : (this.#chains.get(from) ?? world.now))
    }
  }

  #releasing(wire: string): void {
    for (const { holds, machine } of this.#options.processes) {
      for (const held of holds) {
        if (held.wire !== wire || machine.stopped || this.#isDisturbed(held)) continue
        if (machine.observe(() => held.hold.remaining()) > 0)
          this.violation('release', `${held.call} holds '${held.name}', and it is being released under it`)
      }
    }
  }

  /** The lock, or all of them, is not on the server any more, and no holder was asked. */
  disturb(name: string | undefined): void {
    const { world, locks } = this.#options
    for (const lock of name === undefined ? locks : [name]) this.#disturbedAt.set(lock, world.now)
    const at = world.now
    // A grant from before may be on its way to its process.
    this.events.push({
      at,
      to: at + LONGEST_TRIP,
      what: name === undefined ? 'wiped' : 'forced',
      ...(name !== undefined && { name }),
    })
  }

  // ---- what is looked at after everything that happens -------------------------------------------------------------

  check(): void {
    const { processes, locks, world } = this.#options
    for (const name of locks) this.#checkServer(name)
    for (const process of processes) {
      const { machine } = process
      if (machine.dead || machine.stopped || process.closing !== undefined) continue
      for (const held of process.holds) this.#checkHeld(held)
      for (const call of process.calls) this.#checkCall(call, world.now)
    }
  }

  #holders(name: string): readonly string[] {
    const { server, kinds } = this.#options
    return server.machine.observe(() => (kinds[0] as SimKind).holders(server.redis, name))
  }

  #checkServer(name: string): void {
    const holders = this.#holders(name)
    if (holders.length > 1) this.violation('exclusion', `the server has two owners of '${name}': ${holders.join(', ')}`)
    if (holders.length > 0) {
      this.#freeSince.delete(name)
      this.#toldFree.delete(name)
    }
    if (holders.length === 0 && !this.#freeSince.has(name)) this.#freeSince.set(name, this.#options.world.now)
  }

  #checkHeld(held: Held): void {
    const { hold, process, name, wire } = held
    const { machine } = process
    const there = this.#holders(name).includes(wire)
    if (!this.#options.probing) {
      if (there || this.#isDisturbed(held) || hold.signal.aborted) return
      // Its timer may be on its way; a short lease leaves less room than a timer takes.
      const { lease } = hold.terms
      if (lease < 60 || machine.time - machine.lastWokenAt < TIMER_LATE) return
      // Timers do not see that the machine was suspended; that is looked for once a second.
      if (this.#options.world.now < machine.suspendedUntil + LOOK) return
      this.violation('trust', `${held.call} was not told before the server gave '${name}' away`)
      return
    }
    const remaining = machine.observe(() => hold.remaining())
    if (remaining > 0 && held.everLost) this.violation('trust', `${held.call} was lost, and says it is held again`)
    if (remaining > 0 && !this.#isDisturbed(held) && !there)
      this.violation(
        'trust',
        `${held.call} trusts '${name}' for ${remaining.toFixed(1)} ms more, and the server does not`,
      )
    if (remaining <= 0) held.everLost = true
    const fit = hold.state === 'held' && hold.terms.watched && remaining < hold.terms.lease * 0.4
    if (fit) this.violation('trust', `${held.call} says held although its renewal is overdue`)
  }

  #checkCall(call: Call, now: number): void {
    if (!call.waits) return
    const { process, name } = call
    const freeSince = this.#freeSince.get(name)
    if (freeSince === undefined) return
    // Whoever has it in this process finds out at the next poll that it was taken away.
    const taken = (this.#disturbedAt.get(name) ?? -Infinity) + FORGOTTEN
    const waited = now - Math.max(freeSince, call.since, process.troubledUntil, process.machine.lastWokenAt, taken)
    if (waited > (this.#options.calm && this.#toldFree.has(name) ? FORGOTTEN_WHEN_CALM : FORGOTTEN))
      this.violation('forgotten', `${call.id} waits for '${name}', which has been free for ${waited.toFixed(0)} ms`)
  }

  // ---- what is left ------------------------------------------------------------------------------------------------

  /** Everybody is done, and nothing went wrong lately: nothing may be kept for what is over. */
  idle(): void {
    const { processes, locks, server } = this.#options
    const known = new Set(processes.flatMap(({ holds }) => [...holds].map(({ wire }) => wire)))
    const dead = new Set(
      processes.filter((p) => p.machine.dead || p.closing !== undefined).map((p) => p.client?.id ?? ''),
    )
    for (const name of locks) {
      for (const wire of this.#holders(name)) {
        if (known.has(wire) || this.#abandoned.has(wire) || dead.has(wire.slice(0, 36))) continue
        this.violation('left over', `…${wire.slice(-6)} is still on the server in '${name}', and nobody has it`)
      }
    }
    for (const process of processes) {
      if (!process.living || process.holds.size > 0) continue
      const { gates } = process.runtime
      if (gates.length > 0) this.violation('left over', `${process.name} keeps a gate for '${gates[0]?.name}'`)
      if (process.machine.timers > MOST_TIMERS)
        this.violation('left over', `${process.name} keeps ${process.machine.timers} timers`)
    }
    const heard = server.redis.pubsub.channels(false)
    const waited = processes.some(({ living, holds, calls }) => living && (holds.size > 0 || calls.size > 0))
    if (heard.length > 0 && !waited) this.violation('left over', `somebody still listens to ${heard.join(', ')}`)
  }

  /** All clients are closed. */
  closed(process: SimProcess): void {
    if (process.machine.timers > 0)
      this.violation('left over', `${process.name} is closed and keeps ${process.machine.timers} timers`)
  }

  #tell(
    call: { id?: string; call?: string; owner: string; process: SimProcess; name: string },
    what: Exclude<HistoryEvent['what'], 'forced' | 'wiped' | 'trouble'>,
    more: { until?: number; lease?: number } = {},
  ): void {
    const { process, name, owner } = call
    this.events.push({
      at: process.machine.time,
      what,
      process: process.name,
      call: call.id ?? call.call ?? '',
      name,
      owner,
      ...more,
    })
  }
}
