import type { Runtime } from '../../core/client/runtime.js'
import type { OwnWait } from '../../core/listing/nested-waits-to-publish.js'
import type { ToldWait } from '../../core/listing/nested-wait-format.js'
import type { ServerState } from '../../core/protocol/lock-protocol.js'
import { clientOf, isClientId, numberOf } from '../../keys.js'
import type { Claim } from '../listing/published-claims.js'
import { listable } from '../listing/kinds-in-one-row.js'
import { inspected, type ListHome } from '../listing/listed-lock.js'
import { publishedBy } from '../listing/published-waits.js'
import { blockersOf } from './blockers.js'
import { type GraphWait, holdId, Resting, WaitGraph } from './wait-graph.js'

/** How far from its own calls a client looks, how many waits and how many clients it looks at, and how many waits at a time. What is beyond counts as able to go on. */
const DEEPEST = 64
const MOST = 1000
const MOST_CLIENTS = 1000
const AT_ONCE = 32

/** The lock that a wait is for, as `client.list` would ask about it. Undefined: of no kind that can be asked about. */
export const claimOf = ({ told }: GraphWait): Claim | undefined => {
  const shown = listable(told.kind)
  if (shown === undefined) return undefined
  const [names, keys] = [new Set([told.name]), new Set(told.keys)]
  return { key: told.key, shown, names, keys, more: false, spells: new Map() }
}

/** What a client has published, and the number of that write. */
interface Told {
  readonly resting: Resting
  readonly beat: number
}

const restingOf = (waits: readonly GraphWait[]): Resting => {
  const resting = new Resting()
  for (const wait of waits) resting.add(wait)
  return resting
}

const graphWait = (client: string, told: ToldWait, own?: GraphWait['own']): GraphWait => ({
  id: `${client}:${told.number}`,
  client,
  told,
  own,
})

/** One look along the waits, from those of this client on. What others have published says only where to look: who holds a lock, the server says. */
export class WaitGraphReader {
  readonly graph = new WaitGraph()
  readonly #home: ListHome
  readonly #own: readonly GraphWait[]
  readonly #published = new Map<string, Promise<Told>>()
  readonly #states = new Map<string, Promise<ServerState | undefined>>()

  constructor(home: ListHome, own: readonly OwnWait[]) {
    this.#home = home
    const client = this.#runtime.options.id
    this.#own = own.map(({ wait, told }) => graphWait(client, told, wait))
    this.#published.set(client, Promise.resolve({ resting: restingOf(this.#own), beat: Infinity }))
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
        for (const wait of found.flat()) if (this.graph.add(wait) && this.graph.size <= MOST) next.push(wait)
      }
      edge = next
    }
  }

  /** The number of the newest write of this client that was read. Only calls of this client need none. */
  async beatOf(client: string): Promise<number> {
    return (await this.#published.get(client))?.beat ?? -1
  }

  /** The waits that the holders' holds last for. */
  async #follow(wait: GraphWait): Promise<GraphWait[]> {
    const state = await this.#stateFor(wait)
    const owners = state === undefined ? [] : blockersOf(wait, state)
    const holds = owners.flatMap((owner) => {
      const [client, number] = [clientOf(owner), numberOf(owner)]
      // Redisson's owners have other numbers, and publish nothing.
      return isClientId(client) && number > 0 ? [{ client, id: holdId(wait.told.key, client, number) }] : []
    })
    this.graph.blocked(
      wait,
      holds.map(({ id }) => id),
    )
    const resting = holds.map(async ({ client, id }) => (await this.#publishedBy(client))?.resting.on(id) ?? [])
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

  /** Undefined: the client is one too many. */
  #publishedBy(client: string): Promise<Told> | undefined {
    const known = this.#published.get(client)
    if (known !== undefined || this.#published.size >= MOST_CLIENTS) return known
    const read = this.#read(client)
    this.#published.set(client, read)
    return read
  }

  async #read(client: string): Promise<Told> {
    const { waits, beat } = await publishedBy(this.#runtime, client)
    return { resting: restingOf(waits.map((told) => graphWait(client, told))), beat }
  }
}
