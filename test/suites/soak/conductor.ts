import { setTimeout as sleep } from 'node:timers/promises'
import type { Seat } from './crew.js'
import type { Dice, Fault } from './faults.js'
import { faults } from './faults.js'
import { machineTime } from './log.js'
import type { Place } from './place.js'

/** Faults come from so many sides at once. */
const LANES = 2
/** Faults for so long, then none: whoever is forgotten shows when nothing else is in the way. ms */
const ROUGH = 18_000
const QUIET = 12_000

/** Lets faults happen at random until the time is over. */
export class Conductor {
  readonly counts = new Map<string, number>()
  readonly #place: Place
  readonly #random: () => number
  readonly #dice: Dice
  #active = 0
  #alone = false

  constructor(place: Place, random: () => number) {
    this.#place = place
    this.#random = random
    this.#dice = {
      random,
      ms: () => (random() < 0.7 ? 20 + 500 * random() : 500 + 2000 * random()),
      pick: (list) => list[Math.floor(random() * list.length)] as (typeof list)[number],
    }
  }

  async run(ms: number, stopped: () => boolean): Promise<void> {
    const began = machineTime()
    const end = began + ms
    const lane = async (): Promise<void> => {
      while (machineTime() < end && !stopped()) {
        const phase = (machineTime() - began) % (ROUGH + QUIET)
        if (phase > ROUGH) await sleep(Math.min(500, ROUGH + QUIET - phase))
        else {
          await this.#one()
          await sleep(50 + 500 * this.#random())
        }
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  async #one(): Promise<void> {
    const fault = this.#draw()
    const seat = this.#dice.pick(this.#place.seats)
    if (fault.on === 'alone') return this.#byItself(fault, seat)
    const target = fault.on === 'process' ? seat : this.#place
    if (this.#alone || target.busy || fault.possible?.(seat) === false) return
    target.busy = true
    this.#active += 1
    try {
      await this.#happen(fault, seat)
    } finally {
      target.busy = false
      this.#active -= 1
    }
  }

  async #byItself(fault: Fault, seat: Seat): Promise<void> {
    if (this.#alone) return
    this.#alone = true
    try {
      while (this.#active > 0) await sleep(10)
      // What earlier ones held back is heard by then.
      await sleep(200)
      await this.#happen(fault, seat)
    } finally {
      this.#alone = false
    }
  }

  async #happen(fault: Fault, seat: Seat): Promise<void> {
    this.counts.set(fault.kind, (this.counts.get(fault.kind) ?? 0) + 1)
    await fault.happen(this.#place, seat, this.#dice)
  }

  #draw(): Fault {
    let left = this.#random() * faults.reduce((sum, { weight }) => sum + weight, 0)
    return faults.find(({ weight }) => (left -= weight) < 0) ?? (faults[0] as Fault)
  }
}
