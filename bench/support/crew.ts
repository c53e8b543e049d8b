import type { Participant } from '../participants/participant.js'
import { Child, PATIENCE } from './child.js'
import type { Load, Sample, Slot } from './load.js'

/** The processes of one participant: their own, so that nobody's heap, compiled code or CPU is another's. */
export class Crew {
  readonly #processes: readonly Child[]

  private constructor(processes: readonly Child[]) {
    this.#processes = processes
  }

  static async open(participant: Participant, url: string, load: Load): Promise<Crew> {
    const opening = Array.from({ length: load.processes }, (_, index) =>
      Child.open('worker.js', [participant.name, url, JSON.stringify(load), String(index)]),
    )
    return new Crew(await Promise.all(opening))
  }

  /** Whether the lock of one client is closed to another one. */
  probe(): Promise<boolean> {
    return this.#processes[0]!.ask('probe') as Promise<boolean>
  }

  work(slot: Slot): Promise<Sample[]> {
    const limit = (slot.warm + slot.seconds) * 1000 + PATIENCE
    return Promise.all(this.#processes.map((child) => child.ask(slot, limit) as Promise<Sample>))
  }

  async end(): Promise<void> {
    await Promise.all(this.#processes.map((child) => child.end()))
  }
}
