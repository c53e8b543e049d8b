import { type Cycle, identityOf, type Support } from './wait-graph.js'
import type { WaitGraphReader } from './wait-graph-reader.js'

/** How many writes of a client, after the first look ended, prove that it still waited then: the first may have been on its way. */
const WRITES = 2

interface Candidate {
  readonly support: string
  /** The newest write of each client that a look read which began after the first one had ended. */
  readonly floor: ReadonlyMap<string, number> | undefined
}

/** A cycle that existed at one moment. */
export interface Proven {
  readonly id: string
  readonly cycle: Cycle
}

/**
 * A look reads its edges one after the other, and by the end of it some may be gone. So a cycle counts only if a later look shows the very same waits and holds,
 * and each client has looked at its calls again in between: then all of them existed at the moment when the first look ended.
 */
export class CycleProof {
  #candidates = new Map<string, Candidate>()

  get pending(): boolean {
    return this.#candidates.size > 0
  }

  clear(): void {
    this.#candidates.clear()
  }

  /** What a further look has found. `fresh`: some of it was not there before. */
  async seen(
    walk: WaitGraphReader,
    self: string,
  ): Promise<{ readonly proven: readonly Proven[]; readonly fresh: boolean }> {
    const [before, proven] = [this.#candidates, [] as Proven[]]
    let fresh = false
    this.#candidates = new Map()
    for (const cycle of walk.graph.cycles()) {
      const id = identityOf(cycle)
      const support = walk.graph.support(cycle)
      const known = before.get(id)
      const same = known?.support === support.text
      fresh ||= !same
      const beats = await beatsOf(walk, support, self)
      const floor = same ? (known.floor ?? beats) : undefined
      this.#candidates.set(id, { support: support.text, floor })
      if (floor !== undefined && [...beats].every(([client, beat]) => beat >= (floor.get(client) ?? Infinity) + WRITES))
        proven.push({ id, cycle })
    }
    return { proven, fresh }
  }
}

/** What this client knows of its own calls is always new. */
const beatsOf = async (walk: WaitGraphReader, { clients }: Support, self: string): Promise<Map<string, number>> => {
  const beats = new Map<string, number>()
  for (const client of clients) if (client !== self) beats.set(client, await walk.beatOf(client))
  return beats
}
