import { placeOf } from '../participants.js'
import type { Member, Participant } from '../participants/participant.js'
import { PATIENCE } from '../base/load.js'
import { Child } from './child.js'
import type { Load, Sample, Slot } from '../base/load.js'

/**
 * A process rests while others have their slots. V8 drops the code of functions that have not run for a while, and would compile it anew in
 * each slot, at the cost of whoever has more of it: a service that is used does not do that.
 */
const KEPT_CODE = ['--no-flush-bytecode']

/** How many processes start at a time: of very many at once each would take as long as all, and longer than it may. */
const ABREAST = 8

/** The lock of all callers of all processes, or that of each caller of one; or the locks. */
export const namesOf = (participant: Participant, load: Load, index: number): string[] => {
  const prefix = `bench:${placeOf(participant)}:${load.names}`
  const { callers, locks = 1 } = load
  if (load.names === 'each') return Array.from({ length: callers * locks }, (_, name) => `${prefix}:${index}:${name}`)
  return locks === 1 ? [prefix] : Array.from({ length: locks }, (_, name) => `${prefix}:${name}`)
}

/** The processes of one participant: their own, so that nobody's heap, compiled code or CPU is another's. */
export class Crew {
  readonly #processes: readonly Member[]

  private constructor(processes: readonly Member[]) {
    this.#processes = processes
  }

  static async open(participant: Participant, url: string, load: Load): Promise<Crew> {
    const open = (index: number): Promise<Member> => {
      const names = namesOf(participant, load, index)
      return (
        participant.start?.(url, load, names) ??
        Child.open('worker.js', [participant.name, url, JSON.stringify(load), JSON.stringify(names)], KEPT_CODE)
      )
    }
    const members: Member[] = []
    while (members.length < load.processes) {
      const from = members.length
      const some = Math.min(ABREAST, load.processes - from)
      const opened = await Promise.allSettled(Array.from({ length: some }, (_, index) => open(from + index)))
      members.push(...opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
      const failed = opened.find((one) => one.status === 'rejected')
      if (failed === undefined) continue
      // They would work beside whoever comes next.
      await new Crew(members).kill()
      throw failed.reason
    }
    return new Crew(members)
  }

  /** Whether the lock of one client is closed to another one. */
  probe(): Promise<boolean> {
    return this.#processes[0]!.ask('probe') as Promise<boolean>
  }

  work(slot: Slot): Promise<Sample[]> {
    const limit = (slot.warm + slot.seconds) * 1000 + (slot.patience ?? 0) + PATIENCE
    return Promise.all(this.#processes.map((child) => child.ask(slot, limit) as Promise<Sample>))
  }

  async kill(): Promise<void> {
    await Promise.all(this.#processes.map((child) => child.kill()))
  }

  async end(): Promise<void> {
    await Promise.all(this.#processes.map((child) => child.end()))
  }
}
