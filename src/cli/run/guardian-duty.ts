import { type Processes, type Target, terminate } from './processes.js'

/** What the guardian has to do. It gets a new order about once a second. Times are in ms from the moment that it hears of them; null: never. */
export interface Order {
  readonly target: Target
  /** When it sends TERM, and when KILL, unless it hears of a later time before. */
  readonly termIn: number | null
  readonly killIn: number | null
  /** ms from TERM to KILL if it finds itself alone. */
  readonly grace: number
  /** The command has got its TERM already. */
  readonly termed: boolean
}

export interface Means {
  /** What the order is about. */
  readonly processesOf: (target: Target) => Pick<Processes, 'send' | 'alive'>
  /** It ends the command in place of the process that gives the orders, which may go on later. */
  readonly acts: () => void
  /** There is nothing left to guard. */
  readonly done: () => void
}

/** How often it looks whether all processes have ended. */
const LOOK = 50
/** How long it goes on sending KILL. A process that is in the middle of a system call may take that long. */
const LAST = 5000

/**
 * Ends the command when the process that should do so cannot: because it was killed, or because it stands still while the lease runs out.
 * Knows nothing of locks.
 */
export class GuardianDuty {
  readonly #means: Means
  #processes: Pick<Processes, 'send' | 'alive'> | undefined
  #order: Order | undefined
  #timers: NodeJS.Timeout[] = []
  #killAt = Infinity
  #alone = false

  constructor(means: Means) {
    this.#means = means
  }

  hear(order: Order): void {
    if (this.#alone) return
    this.#processes ??= this.#means.processesOf(order.target)
    this.#order = order
    this.#clear()
    const { termIn, killIn } = order
    this.#killAt = killIn === null ? Infinity : performance.now() + killIn
    if (termIn !== null) this.#after(termIn, () => this.#term())
    if (killIn !== null) this.#after(killIn, () => this.#kill())
  }

  /** The process that gives the orders has ended. Nobody renews the lease any more. */
  alone(): void {
    this.#alone = true
    this.#clear()
    if (this.#order === undefined || this.#processes?.alive !== true) return this.#means.done()
    const { grace, termed } = this.#order
    if (!termed) this.#term()
    this.#after(Math.min(grace, this.#killAt - performance.now()), () => this.#kill())
    this.#look()
  }

  #term(): void {
    this.#means.acts()
    if (this.#processes !== undefined) terminate(this.#processes)
  }

  /** Again and again: a process may have been started in the very moment of the signal. */
  #kill(since = performance.now()): void {
    this.#means.acts()
    this.#processes?.send('SIGKILL')
    if (this.#processes?.alive === true && performance.now() - since < LAST) {
      this.#after(LOOK, () => this.#kill(since))
      return
    }
    if (this.#alone) this.#means.done()
  }

  #look(): void {
    if (this.#processes?.alive === true) this.#after(LOOK, () => this.#look())
    else this.#means.done()
  }

  #after(ms: number, step: () => void): void {
    this.#timers.push(setTimeout(step, Math.max(ms, 0)))
  }

  #clear(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
  }
}
