/** A call that waits while its owner holds something. */
export interface NestedWait {
  /** Never used again: the client and a number. */
  readonly id: string
  /** When it began, as its client published it: all who look see the same number. */
  readonly since: number
  /** Its client rejects it if it closes a cycle. */
  readonly mayBreak: boolean
  /** The holds that all have to end before it is served, by id. */
  readonly blockedBy: readonly string[]
  /** The holds that do not end before it is served, by id. */
  readonly holds: readonly string[]
}

/** The waits that can be reached from one of them. */
export class WaitGraph {
  readonly #waits: ReadonlyMap<string, NestedWait>
  /** The waits on which each hold depends. A hold that is missing belongs to an owner that runs, or of which nothing is known. */
  readonly #restsOn = new Map<string, NestedWait[]>()
  readonly #stuck: ReadonlySet<string>

  constructor(waits: readonly NestedWait[]) {
    this.#waits = new Map(waits.map((wait) => [wait.id, wait]))
    for (const wait of [...this.#waits.values()].sort(byId)) {
      for (const hold of wait.holds) {
        const others = this.#restsOn.get(hold)
        if (others === undefined) this.#restsOn.set(hold, [wait])
        else others.push(wait)
      }
    }
    this.#stuck = this.#findStuck()
  }

  /**
   * The waits that can never end by themselves: each is blocked by a hold all of whose waits are stuck, too. At first, all count as stuck; one after the other is
   * taken out for which something can go on.
   */
  #findStuck(): Set<string> {
    const stuck = new Set(this.#waits.keys())
    for (let before = -1; before !== stuck.size;) {
      before = stuck.size
      for (const id of [...stuck]) {
        const wait = this.#waits.get(id) as NestedWait
        if (!wait.blockedBy.some((hold) => this.#neverEnds(hold, stuck))) stuck.delete(id)
      }
    }
    return stuck
  }

  /** A hold with several waits may go on with the first that ends. */
  #neverEnds(hold: string, stuck: ReadonlySet<string>): boolean {
    const waits = this.#restsOn.get(hold)
    return waits !== undefined && waits.every(({ id }) => stuck.has(id))
  }

  /** The cycle that this wait is in: each waits for the next, and the first is the same for all who look. Undefined: it is in none. */
  cycleOf(start: string): readonly NestedWait[] | undefined {
    const path: NestedWait[] = []
    let wait = this.#waits.get(start)
    while (wait !== undefined && this.#stuck.has(wait.id) && !path.includes(wait)) {
      path.push(wait)
      wait = this.#next(wait)
    }
    // It may lead into a cycle without being in it: those that are will find it.
    if (wait === undefined || wait.id !== start) return undefined
    const first = path.reduce((least, each, index) => (byId(each, path[least] as NestedWait) < 0 ? index : least), 0)
    return [...path.slice(first), ...path.slice(0, first)]
  }

  /** The same for all who look, even if there are several. */
  #next({ blockedBy }: NestedWait): NestedWait | undefined {
    const [hold] = blockedBy.filter((each) => this.#neverEnds(each, this.#stuck)).sort()
    return hold === undefined ? undefined : this.#restsOn.get(hold)?.[0]
  }
}

const byId = (one: NestedWait, other: NestedWait): number => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)

/** The index of the wait that is rejected: the youngest that may be. All who look choose alike. Undefined: none may be. */
export const victimOf = (cycle: readonly NestedWait[]): number | undefined => {
  let victim: number | undefined
  cycle.forEach((wait, index) => {
    const best = victim === undefined ? undefined : cycle[victim]
    if (!wait.mayBreak) return
    if (best === undefined || wait.since > best.since || (wait.since === best.since && byId(wait, best) > 0))
      victim = index
  })
  return victim
}

/** For each wait of the cycle, the hold of the next one that blocks it. */
const edgesOf = (cycle: readonly NestedWait[]): readonly (string | undefined)[] =>
  cycle.map(({ blockedBy }, i) => {
    const next = cycle[(i + 1) % cycle.length]
    return blockedBy.filter((hold) => next?.holds.includes(hold)).sort()[0]
  })

/** Whether both looks saw the same cycle: the same waits, blocked by the same holds. No wait and no hold gets the id of an earlier one. */
export const isSameCycle = (one: readonly NestedWait[], other: readonly NestedWait[]): boolean => {
  const [edges, others] = [edgesOf(one), edgesOf(other)]
  return one.length === other.length && one.every(({ id }, i) => id === other[i]?.id && edges[i] === others[i])
}
