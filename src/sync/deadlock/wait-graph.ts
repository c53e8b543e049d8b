import type { NestedWait } from '../../core/client/nested-waits.js'
import type { ToldWait } from '../../core/listing/nested-wait-format.js'

/** A call that waits while something is held until it ends. */
export interface GraphWait {
  /** Its client and number: never used again. */
  readonly id: string
  readonly client: string
  readonly told: ToldWait
  /** Set if it is a call of this client. */
  readonly own: NestedWait | undefined
}

/** Whom a wait is for: a hold of a lock, which must end first. */
export interface Edge {
  readonly wait: GraphWait
  readonly hold: string
}

/** A cycle: each call waits for a hold that ends only after the next call. */
export type Cycle = readonly Edge[]

/** How many calls a cycle may have, how many cycles one look finds, and how many steps it takes for that. */
const LONGEST = 64
const MOST_CYCLES = 100
const MOST_STEPS = 20_000

/** The hold of a lock, by the running number of its owner, which is never used again. */
export const holdId = (key: string, client: string, number: number): string => `${client}:${number} ${key}`

/** The clients of a cycle, and of all other waits without which it would be none; and what must stay as it is. */
export interface Support {
  readonly clients: ReadonlySet<string>
  readonly text: string
}

/** The waits that each hold lasts for. */
export class Resting {
  readonly #waits = new Map<string, GraphWait[]>()

  add(wait: GraphWait): void {
    for (const [key, number] of wait.told.holds) {
      const hold = holdId(key, wait.client, number)
      const resting = this.#waits.get(hold)
      if (resting === undefined) this.#waits.set(hold, [wait])
      // A stranger may have written one hold many times.
      else if (resting.at(-1) !== wait) resting.push(wait)
    }
  }

  on(hold: string): readonly GraphWait[] {
    return this.#waits.get(hold) ?? []
  }
}

/** Which calls wait for which holds, and which holds end only after which calls. */
export class WaitGraph {
  readonly #waits = new Map<string, GraphWait>()
  /** The holds that each wait is for, all of which must end. */
  readonly #blockers = new Map<GraphWait, readonly string[]>()
  readonly #resting = new Resting()
  #stuck: ReadonlySet<GraphWait> | undefined

  get size(): number {
    return this.#waits.size
  }

  /** False: it is there already. */
  add(wait: GraphWait): boolean {
    if (this.#waits.has(wait.id)) return false
    this.#waits.set(wait.id, wait)
    this.#resting.add(wait)
    return true
  }

  blocked(wait: GraphWait, holds: readonly string[]): void {
    // Sorted, because the server may answer in any order.
    this.#blockers.set(wait, [...new Set(holds)].sort())
  }

  /** The waits that cannot end, because each is for a hold that cannot. A call that waits for nothing, or that nobody knows, can always go on. */
  get stuck(): ReadonlySet<GraphWait> {
    if (this.#stuck !== undefined) return this.#stuck
    const stuck = new Set(this.#waits.values())
    for (let before = -1; before !== stuck.size;) {
      before = stuck.size
      for (const wait of stuck) if (this.#endless(wait, stuck).length === 0) stuck.delete(wait)
    }
    return (this.#stuck = stuck)
  }

  /** The holds that a wait is for and that cannot end. Of several calls that one hold lasts for, any may be enough for the code to go on. */
  #endless(wait: GraphWait, stuck: ReadonlySet<GraphWait>): readonly string[] {
    return (this.#blockers.get(wait) ?? []).filter((hold) => {
      const resting = this.#resting.on(hold)
      return resting.length > 0 && resting.every((other) => stuck.has(other))
    })
  }

  /** The cycles through calls of this client, each once. */
  cycles(): Cycle[] {
    const found: Cycle[] = []
    const done = new Set<GraphWait>()
    const left = { steps: MOST_STEPS }
    for (const wait of this.stuck) {
      if (wait.own === undefined) continue
      this.#through(wait, done, found, left)
      done.add(wait)
    }
    return found
  }

  /** `done`: calls whose cycles are known already. */
  #through(start: GraphWait, done: ReadonlySet<GraphWait>, found: Cycle[], left: { steps: number }): void {
    const back = this.#leadingTo(start)
    const path: Edge[] = []
    const onPath = new Set<GraphWait>()
    const walk = (wait: GraphWait): void => {
      onPath.add(wait)
      for (const hold of this.#endless(wait, this.stuck)) {
        // Twice through one hold would be two cycles.
        if (path.some((edge) => edge.hold === hold)) continue
        path.push({ wait, hold })
        for (const next of this.#resting.on(hold)) {
          if (left.steps-- <= 0 || found.length >= MOST_CYCLES) break
          if (next === start) found.push([...path])
          else if (back.has(next) && !done.has(next) && !onPath.has(next) && path.length < LONGEST) walk(next)
        }
        path.pop()
      }
      onPath.delete(wait)
    }
    walk(start)
  }

  /** The stuck waits from which one comes to this one. */
  #leadingTo(end: GraphWait): ReadonlySet<GraphWait> {
    const before = new Map<GraphWait, GraphWait[]>()
    for (const wait of this.stuck)
      for (const hold of this.#endless(wait, this.stuck))
        for (const next of this.#resting.on(hold)) before.set(next, [...(before.get(next) ?? []), wait])
    const leading = new Set([end])
    for (const wait of leading) for (const one of before.get(wait) ?? []) leading.add(one)
    return leading
  }

  /** What the cycle rests on: of each hold in it, all calls that it lasts for must be stuck. */
  support(cycle: Cycle): Support {
    const edges = new Map(cycle.map((edge) => [edge.wait, edge.hold]))
    for (const [, hold] of edges)
      for (const wait of this.#resting.on(hold)) {
        const [first] = edges.has(wait) ? [] : this.#endless(wait, this.stuck)
        if (first !== undefined) edges.set(wait, first)
      }
    const lines = [...edges].map(([{ id }, hold]) => `${id} ${hold}`)
    return { clients: new Set([...edges.keys()].map(({ client }) => client)), text: lines.sort().join('\n') }
  }
}

/** The same for all clients that see it. */
export const identityOf = (cycle: Cycle): string =>
  cycle
    .map(({ wait }) => wait.id)
    .sort()
    .join(' ')
