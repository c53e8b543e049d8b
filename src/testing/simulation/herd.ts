import type { Flight } from './sent-command.js'
import type { SimProcess } from './sim-process.js'
import type { Scene, Verdict } from './verdict.js'

/** Whoever waits shows each second that it lives, and asks when a lease ends. */
const POLLED = 800
/** A call tries, asks what it has to listen to, and joins; the first of all these begins the row. */
const TO_JOIN = 3
/** Besides those: so many questions in a row without a cause that is known here. A lease ended, or a message crossed an answer. */
const EXCUSED = 2
/** By these a process asks for what it waits for. */
const QUESTION = /\/(acquire|ask|enqueue|poll|try)$/

interface Asked {
  readonly at: number
  /** The calls and the holds of the process then. */
  readonly cause: string
  readonly vain: number
}

/** Where nothing goes wrong, a release is no reason to ask for those who stand in a line: whoever is next is told. */
export class Herd {
  readonly #scene: Scene
  readonly #verdict: Verdict
  /** By process, lock, and side. */
  readonly #asked = new Map<string, Asked>()

  constructor(scene: Scene, verdict: Verdict) {
    this.#scene = scene
    this.#verdict = verdict
  }

  executing(process: SimProcess, { op, keys, args, again }: Flight): void {
    const name = this.#scene.locks.find((lock) => keys.includes(lock))
    if (name === undefined || again || !QUESTION.test(op)) return
    // Readers and writers of a process stand in the line by themselves, and each place is asked for by itself.
    const writes = args.some((arg) => typeof arg === 'string' && arg.endsWith(':write'))
    const who = `${process.name} ${name} ${writes}`
    const [at, cause, last] = [this.#scene.world.now, this.#cause(process, name), this.#asked.get(who)]
    const vain = last?.cause === cause && at - last.at < this.#polled ? last.vain + 1 : 0
    this.#asked.set(who, { at, cause, vain })
    if (vain > EXCUSED + TO_JOIN * process.calls.size - 1)
      this.#verdict.violation('herd', `${process.name} asks for '${name}' again, ${vain} times without a cause`)
  }

  get #polled(): number {
    return Math.min(POLLED, ...this.#scene.processes.map(({ plan }) => plan.watchdog / 2))
  }

  #cause({ calls, holds, visits }: SimProcess, name: string): string {
    const known = [...calls, ...visits].filter((call) => call.name === name).map(({ id }) => id)
    return [...known, ...[...holds].filter((held) => held.name === name).map(({ call }) => `has ${call}`)].join()
  }
}
