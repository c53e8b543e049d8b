import type { Verdict } from '../verdict.js'
import type { Redisson } from './redisson.js'
import type { StrangersHold, Witness } from './thread.js'

type Note = (who: string, text: string) => void

/** Writes down what strangers claim, so that it can be compared with what everybody else does. */
export class StrangersWitness implements Witness {
  readonly #verdict: Verdict
  readonly #until = new WeakMap<StrangersHold, number>()
  readonly note: Note

  constructor(verdict: Verdict, note: Note) {
    this.#verdict = verdict
    this.note = note
  }

  invoked(process: Redisson, call: string, owner: string, name: string): void {
    this.#verdict.tell({ call, owner, process, name }, 'invoke')
    this.note(process.name, `${call} asks for '${name}'`)
  }

  refused(process: Redisson, call: string, owner: string, name: string): void {
    this.#verdict.tell({ call, owner, process, name }, 'refused')
    this.note(process.name, `${call} does not get '${name}'`)
  }

  granted(process: Redisson, hold: StrangersHold, until: number): void {
    this.#until.set(hold, until)
    this.#verdict.tell({ ...hold, process }, 'granted', { until, lease: hold.lease })
    this.note(process.name, `${hold.call} has '${hold.name}' as …${hold.owner.slice(-6)}`)
  }

  renewed(process: Redisson, hold: StrangersHold, until: number): void {
    // What it did not know to be its own for a moment it claims no more, though it may have it still.
    if ((this.#until.get(hold) ?? 0) <= process.machine.time) return
    this.#until.set(hold, until)
    this.#verdict.tell({ ...hold, process }, 'checked', { until })
  }

  releasing(process: Redisson, hold: StrangersHold): void {
    this.#verdict.tell({ ...hold, process }, 'releasing')
    this.note(process.name, `${hold.call} lets go of '${hold.name}'`)
  }

  released(process: Redisson, hold: StrangersHold, freed: boolean): void {
    this.#verdict.tell({ ...hold, process }, freed ? 'released' : 'lost')
  }
}
