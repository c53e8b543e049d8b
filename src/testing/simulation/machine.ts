import type { Clock, Timer } from '../../base/clock.js'
import type { Random } from '../random.js'
import type { Scheduled, World } from './world.js'

interface MachineTimer extends Timer {
  readonly due: number
  readonly order: number
  readonly callback: () => void
  event: Scheduled | undefined
}

const EPOCH = 1_767_225_600_000
/** Timers come late, and now and then a little early, as those of the platform do. */
const LATEST = 1.5
const EARLIEST = 0.2

/**
 * One process on a machine of its own: its clocks, its timers, and what reaches it from outside. It can be stopped, also
 * in the middle of a tick, suspended, and killed; then nothing of it runs any more.
 */
export class Machine implements Clock {
  readonly name: string
  readonly #world: World
  readonly #random: Random
  readonly #timers = new Set<MachineTimer>()
  #inbox: (() => void)[] = []
  #wallOffset: number
  #suspended = 0
  #stoppedUntil = 0
  #order = 0
  /** World time at which it last woke, or is to wake. */
  lastWokenAt = 0
  /** World time at which it last woke from being suspended. */
  suspendedUntil = -Infinity
  /** So many looks at a clock from now, it is stopped for so long. */
  #freeze: { looks: number; readonly ms: number; readonly done: () => void } | undefined
  #observed = false
  dead = false

  constructor(world: World, random: Random, name: string, wallOffset: number) {
    this.#world = world
    this.#random = random
    this.name = name
    this.#wallOffset = wallOffset
  }

  /** World time as this process lives it: within a tick in which it was stopped, that tick goes on later. */
  get time(): number {
    return this.#observed ? this.#world.now : Math.max(this.#world.now, this.#stoppedUntil)
  }

  get stopped(): boolean {
    return this.#world.now < this.#stoppedUntil
  }

  get timers(): number {
    return this.#timers.size
  }

  now(): number {
    this.#look()
    return Math.floor(EPOCH + this.time + this.#wallOffset)
  }

  monotonic(): number {
    this.#look()
    return this.time - this.#suspended
  }

  random(): number {
    return this.#random.next()
  }

  randomBytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.#random.below(256))
  }

  /** Never stops in here: who is stopped between reading a clock and setting a timer by it is late, and cannot know. */
  setTimer(callback: () => void, ms: number): Timer {
    const timer: MachineTimer = {
      due: this.time - this.#suspended + Math.max(0, ms),
      order: this.#order++,
      callback,
      event: undefined,
      cancel: () => {
        timer.event?.cancel()
        this.#timers.delete(timer)
      },
    }
    this.#timers.add(timer)
    this.#arm(timer)
    return timer
  }

  /** Something reaches the process from outside: now, or when it runs again. */
  deliver(run: () => void): void {
    if (this.dead) return
    if (this.stopped || this.#inbox.length > 0) this.#inbox.push(run)
    else run()
  }

  /** Reads of its clocks within do not count: it is the observer who looks. */
  observe<T>(look: () => T): T {
    this.#observed = true
    try {
      return look()
    } finally {
      this.#observed = false
    }
  }

  stepWall(ms: number): void {
    this.#wallOffset += ms
  }

  stop(ms: number): void {
    this.lastWokenAt = this.#stoppedUntil = Math.max(this.#stoppedUntil, this.time + ms)
    this.#world.at(this.#stoppedUntil, () => {
      this.#wake()
    })
  }

  /** The wall clock goes on, the monotonic one does not. */
  suspend(ms: number): void {
    this.stop(ms)
    this.#suspended += ms
    this.suspendedUntil = this.#stoppedUntil
  }

  /** Stops it in the middle of a tick. */
  freezeAt(looks: number, ms: number, done: () => void): void {
    this.#freeze = { looks, ms, done }
  }

  /** What was to stop it will not. */
  thaw(): void {
    this.#freeze = undefined
  }

  kill(): void {
    this.dead = true
    this.#inbox = []
    for (const timer of [...this.#timers]) timer.cancel()
  }

  #look(): void {
    const freeze = this.#freeze
    if (freeze === undefined || this.#observed || this.dead || --freeze.looks > 0) return
    this.#freeze = undefined
    this.stop(freeze.ms)
    freeze.done()
  }

  #arm(timer: MachineTimer): void {
    if (this.dead) return
    timer.event?.cancel()
    const left = timer.due - (this.time - this.#suspended)
    const off = Math.max(-left, this.#random.between(-EARLIEST, LATEST))
    timer.event = this.#world.at(this.time + left + off, () => {
      // What is due while it is stopped comes first when it wakes.
      if (this.dead || this.stopped) return
      this.#timers.delete(timer)
      timer.callback()
    })
  }

  #wake(): void {
    if (this.dead || this.stopped) return
    const timers = [...this.#timers].sort((one, other) => one.due - other.due || one.order - other.order)
    const mono = this.time - this.#suspended
    for (const timer of timers) {
      if (timer.due > mono) this.#arm(timer)
      else {
        timer.event?.cancel()
        timer.event = this.#world.at(this.#world.now, () => {
          if (this.dead || this.stopped) return
          this.#timers.delete(timer)
          timer.callback()
        })
      }
    }
    this.#drain()
  }

  /** One after the other, each in a tick of its own. */
  #drain(): void {
    if (this.#inbox.length === 0) return
    this.#world.at(this.#world.now, () => {
      if (this.dead || this.stopped) return
      this.#inbox.shift()?.()
      this.#drain()
    })
  }
}
