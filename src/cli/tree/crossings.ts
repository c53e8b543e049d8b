import type { ListedHolder, ListedLock, ListedWaiter } from '../../api/listing.js'

/** A client that holds one lock while a call in it waits for another one. Nothing says that it is the same call. */
export interface Crossed {
  readonly lock: ListedLock
  readonly holder: ListedHolder
  readonly wanted: ListedLock
  readonly waiter: ListedWaiter
}

/** Clients that hold and wait crosswise: each waits for what the next one holds, and the last for what the first one holds. */
export type Crossing = readonly Crossed[]

/** How many holders of one lock are followed. */
const LOOKED_AT = 100

interface Hold {
  readonly lock: ListedLock
  readonly holder: ListedHolder
}

interface Wait {
  readonly wanted: ListedLock
  readonly waiter: ListedWaiter
}

/** What can be held by one and waited for by another: a lock, or one key of a group. */
const partsOf = ({ kind, key }: ListedLock, { keys = [] }: ListedHolder | ListedWaiter): readonly string[] =>
  kind === 'keyedLock' ? keys.map((part) => JSON.stringify([key, part])) : [JSON.stringify([key])]

const idOf = (part: string, { owner }: ListedHolder | ListedWaiter): string => `${part} ${owner}`

/** Which clients hold and wait for what. */
class Clients {
  /** By the client: what its calls wait for. By the part: who holds it. */
  readonly waits = new Map<string, (readonly [string, Wait])[]>()
  readonly holds = new Map<string, Hold[]>()
  /** Holds and waits, as they can be told from those of another reading. */
  readonly ids = new Set<string>()

  constructor(locks: readonly ListedLock[], before?: Clients) {
    for (const lock of locks.filter(({ waiting }) => waiting.length > 0)) {
      for (const holder of lock.holders)
        for (const part of partsOf(lock, holder))
          if (this.#counts(`holds ${idOf(part, holder)}`, before)) add(this.holds, part, { lock, holder })
      for (const waiter of lock.waiting)
        for (const part of partsOf(lock, waiter))
          if (this.#counts(`waits ${idOf(part, waiter)}`, before))
            add(this.waits, waiter.client, [part, { wanted: lock, waiter }])
    }
  }

  #counts(id: string, before: Clients | undefined): boolean {
    this.ids.add(id)
    return before === undefined || before.ids.has(id)
  }
}

const add = <K, V>(map: Map<K, V[]>, key: K, value: V): void => {
  const there = map.get(key)
  if (there === undefined) map.set(key, [value])
  else there.push(value)
}

/** One client on the way: the hold that led to it, and what is left to be followed from there. */
interface Step {
  readonly client: string
  readonly hold: Hold | undefined
  readonly ahead: Iterator<readonly [Wait, Hold]>
  wait?: Wait
}

/** Follows waits from client to client. Each is visited once, so it is quick, and of several crossings of the same clients it shows one. */
class Walk {
  readonly #clients: Clients
  readonly #seen = new Set<string>()
  readonly #crossed = new Set<string>()
  readonly found: Crossing[] = []

  constructor(clients: Clients) {
    this.#clients = clients
    for (const client of clients.waits.keys()) if (!this.#seen.has(client)) this.#from(client)
  }

  /** Who holds what this client waits for. If the client holds it as well, its calls may just follow one another. */
  *#ahead(client: string): Generator<readonly [Wait, Hold], undefined> {
    for (const [part, wait] of this.#clients.waits.get(client) ?? []) {
      const holds = (this.#clients.holds.get(part) ?? []).slice(0, LOOKED_AT)
      if (holds.some(({ holder }) => holder.client === client)) continue
      for (const hold of holds) yield [wait, hold]
    }
    return undefined
  }

  #enter(client: string, hold: Hold | undefined): Step {
    this.#seen.add(client)
    return { client, hold, ahead: this.#ahead(client) }
  }

  #from(start: string): void {
    const path = [this.#enter(start, undefined)]
    const at = new Map([[start, 0]])
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.ahead.next()
      if (next.done === true) {
        at.delete(last.client)
        path.pop()
        continue
      }
      const [wait, hold] = next.value
      const { client } = hold.holder
      last.wait = wait
      const index = at.get(client)
      if (index !== undefined) this.#note(path.slice(index), hold)
      else if (!this.#seen.has(client)) {
        at.set(client, path.length)
        path.push(this.#enter(client, hold))
      }
    }
  }

  /** `closing`: what the first of them holds, and the last one waits for. */
  #note(steps: readonly Step[], closing: Hold): void {
    if (steps.some(({ client }) => this.#crossed.has(client))) return
    for (const { client } of steps) this.#crossed.add(client)
    const crossing = steps.map(({ wait, hold }, i) => ({ ...(i === 0 ? closing : (hold as Hold)), ...(wait as Wait) }))
    this.found.push(crossing)
  }
}

/** `before`: an earlier reading. What did not hold or wait then is left out, because the locks of one reading are not read at the same moment. */
export const crossingsOf = (locks: readonly ListedLock[], before?: readonly ListedLock[]): readonly Crossing[] =>
  new Walk(new Clients(locks, before && new Clients(before))).found
