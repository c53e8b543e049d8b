import type { Random } from '../random.js'
import {
  type Fault,
  MESSAGE_FAULTS,
  MOMENT_FAULTS,
  type MessageFault,
  type MomentFault,
  REFUSALS,
  REQUEST_FAULTS,
  type RequestFault,
  type Weather,
  fits,
} from './faults.js'
import type { Fate, Flight, MessageFate } from './sent-command.js'
import type { Party } from './party.js'
import type { ServerFaults } from './server-faults.js'
import type { World } from './world.js'

/** What happens to a history. */
export interface Victims {
  readonly world: World
  readonly processes: readonly Party[]
  note(who: string, text: string): void
  readonly server: ServerFaults
}

const isMoment = (fault: Fault): fault is MomentFault => (MOMENT_FAULTS as readonly Fault[]).includes(fault)
const isMessage = (fault: Fault): fault is MessageFault => (MESSAGE_FAULTS as readonly Fault[]).includes(fault)

/** Decides what goes wrong, and counts where it hit. */
export class FaultChooser {
  readonly counts = new Map<string, number>()
  readonly #weather: Weather
  readonly #random: Random
  readonly #masked: ReadonlySet<string>
  readonly #locks: readonly string[]
  #victims: Victims | undefined
  #aim: Weather['aim']
  #ordinal = 0
  /** All that happened, by id: what a smaller history may leave out. */
  readonly happened: string[] = []
  quiet = false

  constructor(weather: Weather, random: Random, locks: readonly string[], masked: ReadonlySet<string>) {
    this.#weather = weather
    this.#random = random
    this.#locks = locks
    this.#masked = masked
    this.#aim = weather.aim && { ...weather.aim }
  }

  begin(victims: Victims): void {
    this.#victims = victims
    const { moments, aim } = this.#weather
    for (let i = 0; i < moments; i++) {
      const fault = this.#random.pick(MOMENT_FAULTS)
      const process = this.#random.pick(victims.processes)
      victims.world.at(this.#random.between(0, 2500), () => {
        if (this.#may(fault, process)) this.#strike(fault, process)
      })
    }
    if (aim === undefined || !isMoment(aim.fault)) return
    for (let i = 0; i < 8; i++) {
      victims.world.at(this.#random.between(0, 2000), () => {
        for (const process of victims.processes) {
          if (this.#aim === undefined || !process.points().includes(this.#aim.point)) continue
          if (this.#strike(aim.fault as MomentFault, process)) this.#aim = undefined
        }
      })
    }
  }

  request(process: Party, flight: Flight): Fate {
    const random = this.#random
    const fate = {
      there: random.chance(0.05) ? random.between(1, 30) : random.between(0.05, 0.6),
      back: random.chance(0.05) ? random.between(1, 30) : random.between(0.05, 0.6),
      refusal: random.pick(REFUSALS),
      arrivesAnyway: random.chance(0.5),
    }
    const wanted = random.chance(this.#weather.requests) ? random.pick(REQUEST_FAULTS) : undefined
    if (this.quiet) return fate
    const aimed = this.#takeAim(process, flight, fate)
    const fault = aimed ?? wanted
    if (fault === undefined || !fits(fault, flight.op) || !this.#may(fault, process)) return fate
    this.#count(fault, [flight.op])
    this.#victims?.note(process.name, `${fault}: ${flight.op}`)
    const slow = random.between(20, process.plan.commandTimeout * 1.5)
    process.troubled(fault, slow)
    if (fault === 'slow request') return { ...fate, fault, there: slow }
    if (fault === 'slow reply') return { ...fate, fault, back: slow }
    // On the connection for messages nobody waits for replies in vain: it turns out to be lost.
    if (fault.startsWith('lost') && flight.op.endsWith('subscribe')) {
      this.#victims?.world.in(slow, () => {
        process.driver.cutMessages()
      })
    }
    if (fault === 'cut, executed late') return { ...fate, fault, back: random.between(0, process.plan.commandTimeout) }
    return { ...fate, fault }
  }

  message(process: Party): MessageFate {
    const random = this.#random
    const delay = random.between(0.05, 1)
    const wanted = random.chance(this.#weather.messages) ? random.pick(MESSAGE_FAULTS) : undefined
    if (this.quiet) return { delay }
    let fault = wanted
    if (this.#aim !== undefined && isMessage(this.#aim.fault) && process.points().includes(this.#aim.point)) {
      if (--this.#aim.chances <= 0) {
        fault = this.#aim.fault
        this.#aim = undefined
      }
    }
    if (fault === undefined || !this.#may(fault, process)) return { delay }
    this.#count(fault, process.points())
    this.#victims?.note(process.name, fault)
    return { delay: fault === 'message late' ? random.between(5, 800) : delay, fault }
  }

  /** The fault that this command is to meet, or that the process meets while it is on its way. */
  #takeAim(process: Party, flight: Flight, fate: { there: number; back: number }): RequestFault | undefined {
    const aim = this.#aim
    if (aim?.point !== flight.op || --aim.chances > 0) return undefined
    const { fault } = aim
    const random = this.#random
    if (!isMoment(fault) && !isMessage(fault)) {
      this.#aim = undefined
      return fault
    }
    // So slow that something can happen meanwhile.
    fate.there = random.between(1, 40)
    fate.back = random.between(1, 40)
    process.troubled('slow reply', fate.there + fate.back)
    if (isMessage(fault)) return undefined
    if (fault === 'stopped within a tick') {
      this.#aim = undefined
      if (this.#may(fault, process)) this.#freeze(process, [flight.op])
      return undefined
    }
    this.#victims?.world.in(random.between(0, fate.there + fate.back), () => {
      if (this.#aim === undefined || !this.#may(fault, process)) return
      if (this.#strike(fault, process)) this.#aim = undefined
    })
    return undefined
  }

  /** A fault that is left out does not happen, and everything else is drawn as if it had. */
  #may(fault: Fault, process: Party): boolean {
    return this.mayHappen(`${this.#ordinal++} ${fault} ${process.name}`)
  }

  mayHappen(id: string): boolean {
    if (this.quiet || this.#masked.has(id)) return false
    this.happened.push(id)
    return true
  }

  /** False: there was nothing to strike. */
  #strike(fault: MomentFault, process: Party): boolean {
    const victims = this.#victims
    if (victims === undefined || this.quiet || !process.living) return false
    const points = process.points()
    if (fault === 'aborted' && !process.abortSomething()) return false
    const random = this.#random
    const ms = random.chance(0.5) ? random.between(1, 100) : random.between(100, 2 * process.plan.watchdog)
    if (fault === 'stopped within a tick') {
      this.#freeze(process, points)
      return true
    }
    this.#count(fault, points)
    victims.note(process.name, fault === 'aborted' ? 'aborted' : `${fault} (${ms.toFixed(0)} ms)`)
    process.troubled(fault, ms)
    switch (fault) {
      case 'stopped':
        process.machine.stop(ms)
        break
      case 'suspended':
        process.machine.suspend(ms)
        break
      case 'killed':
        process.kill()
        break
      case 'closed':
        void process.close(random.chance(0.8))
        break
      case 'aborted':
        break
      case 'wall clock stepped':
        // Set back while it is suspended it would hide that: nobody could know.
        process.stepWall(random.chance(0.5) || process.machine.stopped ? ms : -ms)
        break
      case 'half-open':
        process.driver.halfOpen(ms)
        break
      case 'replies held back':
        process.driver.holdBack(ms)
        break
      case 'messages cut':
        process.driver.cutMessages()
        break
      case 'released by force':
        victims.server.take(random.pick(this.#locks), true)
        break
      case 'key deleted':
        victims.server.take(random.pick(this.#locks), false)
        break
      case 'server stopped':
      case 'server restarted':
      case 'server wiped':
        victims.server.strike(fault, ms)
        break
    }
    return true
  }

  #freeze(process: Party, points: readonly string[]): void {
    const ms = this.#random.between(5, 1.5 * process.plan.watchdog)
    process.machine.freezeAt(1 + this.#random.below(12), ms, () => {
      this.#count('stopped within a tick', points)
      this.#victims?.note(process.name, `stopped within a tick (${ms.toFixed(0)} ms)`)
      process.troubled('stopped within a tick', ms)
    })
  }

  #count(fault: Fault, points: readonly string[]): void {
    for (const point of new Set(points)) {
      const pair = `${fault} × ${point}`
      this.counts.set(pair, (this.counts.get(pair) ?? 0) + 1)
    }
  }
}
