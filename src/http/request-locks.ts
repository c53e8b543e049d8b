import { finished, type Writable } from 'node:stream'
import type { Client } from '../api/client.js'
import type { Hold, Owner } from '../api/hold.js'
import type { AcquireOptions } from '../api/lock.js'
import { checkOptions, checkSignal } from '../check-arguments.js'
import { type NamedLockKind, checkLockKind, lockOfKind } from '../lock-of-kind.js'

/** Options of `request.lock`. */
export interface RequestLockOptions extends Omit<AcquireOptions, 'owner'> {
  /** The kind of lock. Default `lock`. */
  kind?: NamedLockKind | undefined
}

/** The part of Fastify's reply that is used. */
interface Reply {
  readonly raw: Writable
  /** The response has ended, or is the handler's own affair (`hijack`). */
  readonly sent: boolean
}

const KNOWN = ['kind', 'wait', 'lease', 'renew', 'release', 'signal']

const isStream = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && !(payload instanceof Uint8Array)

/** What one request holds, until it is answered. */
export class RequestLocks {
  readonly #client: Client
  readonly #owner: Owner
  readonly #holds = new Set<Hold>()
  /** Aborts when the response has ended, or the requester has left. */
  readonly #over = new AbortController()
  #answered = false

  constructor(client: Client, label: string, reply: Reply) {
    this.#client = client
    this.#owner = client.owner(label)
    finished(reply.raw, () => {
      this.#over.abort(new DOMException('the request is over', 'AbortError'))
      // If the requester has left, the handler still runs. It keeps what it holds until it answers.
      if (this.#answered || reply.sent) void this.#release()
    })
  }

  async acquire(name: string, options: RequestLockOptions | undefined): Promise<Hold> {
    const { kind = 'lock', signal, ...terms } = checkOptions(options, KNOWN)
    if (signal !== undefined) checkSignal(signal, 'signal')
    const lock = lockOfKind(this.#client, checkLockKind(kind), name)
    const over = this.#over.signal
    const ends = signal === undefined ? over : AbortSignal.any([signal, over])
    const hold = await lock.acquire({ ...terms, owner: this.#owner, signal: ends })
    this.#holds.add(hold)
    if (this.#over.signal.aborted) await this.#release()
    this.#over.signal.throwIfAborted()
    return hold
  }

  /** The handler has answered. A stream may still need what is held. */
  async answered(payload: unknown): Promise<void> {
    this.#answered = true
    if (this.#over.signal.aborted || !isStream(payload)) await this.#release()
  }

  /** The handler has ended, perhaps without an answer. */
  handled(): void {
    this.#answered = true
    if (this.#over.signal.aborted) void this.#release()
  }

  /** The newest first. */
  async #release(): Promise<void> {
    const holds = [...this.#holds].reverse()
    this.#holds.clear()
    await Promise.all(holds.map((hold) => hold.release()))
  }
}
