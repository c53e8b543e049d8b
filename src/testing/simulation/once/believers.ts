import type { SimProcess } from '../sim-process.js'

/** A term of a leader, or a run of a slot: work that must be alone. */
export interface Believer {
  readonly id: string
  /** What it must have alone. */
  readonly of: string
  readonly process: SimProcess
  readonly token: bigint
  readonly signal: AbortSignal
  running: boolean
  /** Somebody deleted its lock: it may run on beside the next until it hears of it. */
  excused: boolean
}

/** All work of a history that must be alone. Whoever believes that it is, is alone. */
export class Believers<B extends Believer> {
  readonly #all: B[] = []
  /** Work that runs: most has ended. */
  #running: B[] = []

  get all(): readonly B[] {
    return this.#all
  }

  begins(believer: B): void {
    this.#all.push(believer)
    this.#running.push(believer)
  }

  ends(believer: B): void {
    believer.running = false
  }

  of(what: string): readonly B[] {
    return this.#all.filter((one) => one.of === what)
  }

  /** Those that run, and have not been told that they may have to end. */
  believing(what: string): readonly B[] {
    this.#running = this.#running.filter(({ running }) => running)
    return this.#running.filter((one) => one.of === what && !one.excused && believes(one))
  }

  /** Work may not know yet that its lock is gone. */
  excuse(isMeant: (of: string) => boolean): void {
    for (const one of this.#all) if (isMeant(one.of)) one.excused = true
  }
}

const believes = ({ process: { machine }, signal }: Believer): boolean =>
  !machine.dead && !machine.stopped && machine.observe(() => !signal.aborted)
