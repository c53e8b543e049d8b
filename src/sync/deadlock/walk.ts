import type { Runtime } from '../../core/client/runtime.js'
import type { OwnWait } from '../../core/listing/own-waits.js'
import { NOTHING, type Published } from '../../core/listing/told-waits.js'
import type { ServerState } from '../../core/protocol/lock-protocol.js'
import { clientOf, isClientId, numberOf } from '../../keys.js'
import type { Claim } from '../listing/published-claims.js'
import { listable } from '../listing/kinds-in-one-row.js'
import { inspected, type ListHome } from '../listing/listed-lock.js'
import { publishedBy } from '../listing/published-waits.js'
import { blockersOf } from './blockers.js'
import { type GraphWait, holdId, WaitGraph } from './wait-graph.js'

/** How far from its own calls a client looks, how many waits it looks at, and how many of them at a time. */
const DEEPEST = 64
const MOST = 1000
const AT_ONCE = 32

/** The lock that a wait is for, as `client.list` would ask about it. Undefined: of no kind that can be asked about. */
export const claimOf = ({ told }: GraphWait): Claim | undefined => {
  const shown = listable(told.kind)
  if (shown === undefined) return undefined
  const [names, keys] = [new Set([told.name]), new Set(told.keys)]
  return { key: told.key, shown, names, keys, more: false, spells: new Map() }
}

/** One look along the waits, from those of this client on. What others have published says only where to look: who holds a lock, the server says. */
export class Walk {
  readonly graph = new WaitGraph()
  readonly #home: ListHome
  readonly #own: readonly GraphWait[]
  readonly #published = new Map<string, Promise<Published>>()
  readonly #states = new Map<string, Promise<ServerState | undefined>>()

  constructor(home: ListHome, own: readonly OwnWait[]) {
    this.#home = home
    const client = this.#runtime.options.id
    this.#own = own.map(({ wait, told }) => ({ id: `${client}:${told.number}`, client, told, own: wait }))
    const all = { waits: own.map(({ told }) => told), beat: Infinity }
    this.#published.set(client, Promise.resolve(all))
  }

  get #runtime(): Runtime {
    return this.#home.runtime
  }

  async run(): Promise<void> {
    let edge = this.#own.filter((wait) => this.graph.add(wait))
    for (let depth = 0; edge.length > 0 && depth < DEEPEST; depth++) {
      const next: GraphWait[] = []
      for (let from = 0; from < edge.length; from += AT_ONCE) {
        const found = await Promise.all(edge.slice(from, from + AT_ONCE).map((wait) => this.#follow(wait)))
        for (const wait of found.flat()) if (this.graph.size < MOST && this.graph.add(wait)) next.push(wait)
      }
      edge = next
    }
  }

  /** The number of the newest write of this client that was read. Only calls of this client need none. */
  async beatOf(client: string): Promise<number> {
    return (await (this.#published.get(client) ?? NOTHING)).beat
  }

  /** The waits that the holders' holds last for. */
  async #follow(wait: GraphWait): Promise<GraphWait[]> {
    const state = await this.#stateFor(wait)
    const owners = state === undefined ? [] : blockersOf(wait, state)
    const holds = owners.flatMap((owner) => {
      const [client, number] = [clientOf(owner), numberOf(owner)]
      // Redisson's owners have other numbers, and publish nothing.
      return isClientId(client) && number > 0 ? [{ client, number, id: holdId(wait.told.key, client, number) }] : []
    })
    this.graph.blocked(
      wait,
      holds.map(({ id }) => id),
    )
    const resting = holds.map(async ({ client, number }) => this.#restingOn(wait.told.key, client, number))
    return (await Promise.all(resting)).flat()
  }

  #stateFor(wait: GraphWait): Promise<ServerState | undefined> {
    const claim = claimOf(wait)
    if (claim === undefined) return Promise.resolve(undefined)
    const which = `${claim.shown.layout} ${claim.shown.kind} ${JSON.stringify([...claim.keys])} ${claim.key}`
    let state = this.#states.get(which)
    if (state === undefined) this.#states.set(which, (state = this.#inspect(claim)))
    return state
  }

  /** Of a lock that cannot be asked about, nothing is known: that must not hide all others. */
  #inspect(claim: Claim): Promise<ServerState | undefined> {
    return inspected(this.#home, claim, []).catch(() => undefined)
  }

  async #restingOn(key: string, client: string, number: number): Promise<GraphWait[]> {
    const own = client === this.#runtime.options.id
    const { waits } = await this.#publishedBy(client)
    const resting = waits.filter(({ holds }) => holds.some(([held, by]) => held === key && by === number))
    if (own) return this.#own.filter(({ told }) => resting.includes(told))
    return resting.map((told) => ({ id: `${client}:${told.number}`, client, told, own: undefined }))
  }

  #publishedBy(client: string): Promise<Published> {
    let published = this.#published.get(client)
    if (published === undefined) this.#published.set(client, (published = publishedBy(this.#runtime, client)))
    return published
  }
}
