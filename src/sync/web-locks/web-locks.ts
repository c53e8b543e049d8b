import type { ListedLock } from '../../api/listing.js'
import type { WebLock, WebLockInfo, WebLockMode, WebLocks, WebLocksSnapshot } from '../../api/web-locks.js'
import { onAbort, reasonOf } from '../../base/abort.js'
import { UnitOfWork } from '../../base/owner.js'
import { GatedLock } from '../../core/gate/gated-lock.js'
import type { WriteGate } from '../read-write-lock/write-gate.js'
import type { TenureHold } from '../../core/hold/hold.js'
import { whileHeld } from '../../core/hold/using.js'
import { ClosedError, LockLostError } from '../../errors.js'
import { quoted } from '../../plain-text.js'
import { listLocks } from '../listing/list.js'
import type { ListHome } from '../listing/listed-lock.js'
import { fairReadLock, fairWriteLock, WRITE } from '../read-write-lock/read-write-lock.js'
import { checkRequest, type Wanted, type Work } from './check-request.js'
import { RequestQueue } from './request-queue.js'

const SIDES = { shared: fairReadLock, exclusive: fairWriteLock } as const

/** A name that calls here use. */
interface Used {
  readonly queue: RequestQueue
  calls: number
}

const stolen = (name: string, cause: unknown): unknown => {
  if (cause instanceof ClosedError) return cause
  return Object.assign(new DOMException(`the lock ${quoted(name)} was stolen or lost`, 'AbortError'), { cause })
}

/** `client.locks`: the Web Locks API over fair read-write locks. */
export class ServerWebLocks implements WebLocks {
  readonly #home: ListHome
  readonly #used = new Map<string, Used>()

  constructor(home: ListHome) {
    this.#home = home
  }

  async request<T>(name: string, first: unknown, second?: unknown): Promise<Awaited<T>> {
    const wanted = checkRequest(name, first, second)
    wanted.signal?.throwIfAborted()
    const used = this.#used.get(name) ?? { queue: new RequestQueue(), calls: 0 }
    this.#used.set(name, used)
    used.calls++
    try {
      return (await this.#granted(wanted, used)) as Awaited<T>
    } finally {
      if (--used.calls === 0) this.#used.delete(name)
    }
  }

  async #granted(wanted: Wanted, { queue }: Used): Promise<unknown> {
    const hold = await this.#hold(wanted, queue)
    if (hold === undefined) return wanted.work(null)
    return this.#run(wanted, hold, wanted.work)
  }

  /** Undefined: it is not available. */
  #hold({ name, mode, signal, how }: Wanted, queue: RequestQueue): Promise<TenureHold | undefined> {
    const lock = this.#lock(name, mode)
    if (how === 'steal') return this.#steal(lock)
    if (how === 'wait') return queue.enter(mode, signal, () => lock.acquire({ signal }))
    return queue.blocks(mode) ? Promise.resolve(undefined) : lock.tryAcquire()
  }

  async #steal(lock: GatedLock): Promise<TenureHold | undefined> {
    const { runtime, gates } = this.#home
    runtime.checkTakes(lock.name)
    const gate = gates.at(lock.kind, lock.name, lock.key) as WriteGate
    const hold = await gate.steal(new UnitOfWork(), runtime.watched)
    runtime.forced(lock.key)
    return hold
  }

  #run({ name, mode }: Wanted, hold: TenureHold, work: Work): Promise<unknown> {
    const { signal } = hold
    const lock: WebLock = { name, mode, signal }
    const done = whileHeld(this.#home.runtime, hold, async () => work(lock)).catch((error: unknown) => {
      throw error instanceof LockLostError && (hold.lost || hold.taken) && error.target === name
        ? stolen(name, error)
        : error
    })
    const lost = new Promise<never>((_, reject) => onAbort(signal, () => reject(stolen(name, reasonOf(signal)))))
    return Promise.race([done, lost])
  }

  #lock(name: string, mode: WebLockMode): GatedLock {
    return new GatedLock(this.#home, SIDES[mode], name)
  }

  // ---- query ---------------------------------------------------------------------------------------------------------

  async query(): Promise<WebLocksSnapshot> {
    const snapshot: WebLocksSnapshot = { held: [], pending: [] }
    const here = new Set([...this.#used.keys()].map((name) => this.#home.runtime.keyOf(name)))
    for await (const row of listLocks(this.#home, { kind: 'fairReadWriteLock' }))
      if (!here.has(row.key)) add(snapshot, row.name, row)
    await Promise.all([...this.#used].map(([name, used]) => this.#add(snapshot, name, used)))
    return snapshot
  }

  /** A name that is used here: what the server knows, and what it does not know yet. */
  async #add(snapshot: WebLocksSnapshot, name: string, { queue }: Used): Promise<void> {
    // Before the server is asked: what is sent meanwhile may be shown twice, but is not missing.
    const unsent = [...queue.unsent]
    add(snapshot, name, await this.#lock(name, 'exclusive').inspect())
    const clientId = this.#home.runtime.options.id
    for (const { mode } of unsent) snapshot.pending.push({ name, mode, clientId })
  }
}

const add = (
  { held, pending }: WebLocksSnapshot,
  name: string,
  { holders, waiting }: Pick<ListedLock, 'holders' | 'waiting'>,
): void => {
  const infoOf = (clientId: string, writes: boolean): WebLockInfo => ({
    ...{ name, mode: writes ? 'exclusive' : 'shared', clientId },
  })
  for (const { client, mode } of holders) held.push(infoOf(client, mode !== 'read'))
  for (const { client, owner } of waiting) pending.push(infoOf(client, owner.endsWith(WRITE)))
}
