import type { Clock, Timer } from '../../base/clock.js'
import { errorOf } from '../../thrown.js'
import { behind, type Behind, HOLDS_PER_PAGE, newPage, type Place, SharedProof } from './proof-between-threads.js'
import type { Tenure } from './tenure.js'

/** What the thread must know about a hold to renew it. */
export interface SharedHold {
  readonly number: number
  readonly place: Place
  readonly name: string
  readonly wire: string
  /** The script that renews it. */
  readonly script: string
  readonly key: string
  readonly keys: readonly string[]
  readonly words: string
  readonly weight: number
  readonly lease: number
}

/** `over`: the numbers of holds that have ended. */
export interface ThreadNews {
  readonly hold?: SharedHold
  readonly over: readonly number[]
}

export interface ThreadPort {
  post(news: ThreadNews): void
  end(): Promise<unknown>
}

/** How much a message of the thread matters. */
export type ThreadLevel = 'debug' | 'warn'

export interface ThreadEvents {
  readonly told: (level: ThreadLevel, text: string) => void
  /** It ended, and nobody asked it to. */
  readonly ended: (error: Error) => void
}

/** Starts the thread. `alive`: where this thread writes when its event loop ran last. */
export interface ThreadOpener {
  readonly ticks: () => number
  open(alive: SharedArrayBuffer, events: ThreadEvents): ThreadPort
}

interface ThreadOptions {
  readonly clock: Clock
  readonly opener: ThreadOpener
  readonly log: ThreadEvents['told']
  readonly fail: (error: Error) => void
}

/** ms until a thread that has died is started again: the first time, and at most. */
const AGAIN = 1000
const AGAIN_AT_MOST = 30_000

/**
 * A thread beside this one with a connection of its own. If the event loop here is blocked, it renews the holds that are due. Both
 * threads run a watchdog, and each tells the other what the server has answered: see `SharedProof`.
 */
export class RenewalThreadHandle {
  readonly #options: ThreadOptions
  readonly #behind: Behind
  readonly #alive = new SharedArrayBuffer(8)
  readonly #lastAlive = new Float64Array(this.#alive)
  readonly #tenures = new Map<number, { readonly tenure: Tenure; posted: SharedHold }>()
  readonly #free: Place[] = []
  #over: number[] = []
  #number = 0
  #port: ThreadPort | undefined
  #again: Timer | undefined
  #pause = AGAIN
  #ended = false

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#behind = behind(options.clock, options.opener.ticks)
    this.beat()
  }

  /** The event loop runs. */
  beat(): void {
    this.#lastAlive[0] = this.#options.clock.monotonic() + this.#behind.least
  }

  added(tenure: Tenure): void {
    if (this.#ended || !tenure.watched || tenure.shared !== undefined) return
    this.beat()
    const place = this.#free.pop() ?? this.#morePlaces()
    this.#number = (this.#number % 0x7fffffff) + 1
    tenure.shared = new SharedProof(place, this.#number, 0, this.#behind)
    tenure.shared.tell(tenure.proven, tenure.lastsUntil - tenure.provenAt)
    const hold = described(tenure, tenure.shared)
    this.#tenures.set(this.#number, { tenure, posted: hold })
    this.#post(hold)
  }

  /** Its terms may have changed. */
  changed(tenure: Tenure): void {
    if (tenure.shared === undefined) {
      this.added(tenure)
      return
    }
    if (!tenure.watched) {
      this.removed(tenure)
      return
    }
    const known = this.#tenures.get(tenure.shared.number)
    if (known === undefined || !differs(known.posted, tenure)) return
    known.posted = described(tenure, tenure.shared)
    this.#post(known.posted)
  }

  removed(tenure: Tenure): void {
    const { shared } = tenure
    if (shared === undefined) return
    // The thread looks here before it renews.
    shared.tell(tenure.now(), -2)
    tenure.shared = undefined
    this.#tenures.delete(shared.number)
    this.#free.push(shared.place)
    // It forgets the hold with the next news: there is no hurry.
    this.#over.push(shared.number)
    if (this.#over.length >= HOLDS_PER_PAGE) this.#post()
  }

  /** Another server may answer here now, and the thread may be connected to the old one: another thread takes over, with places of its own. */
  startAgain(): void {
    const port = this.#port
    if (port === undefined) return
    this.#port = undefined
    void port.end()
    this.#over = []
    this.#free.length = 0
    const held = [...this.#tenures.values()]
    this.#tenures.clear()
    for (const { tenure } of held) {
      tenure.shared = undefined
      this.added(tenure)
    }
  }

  async end(): Promise<void> {
    this.#ended = true
    this.#again?.cancel()
    const port = this.#port
    this.#port = undefined
    await port?.end()
  }

  #morePlaces(): Place {
    const page = newPage()
    for (let index = HOLDS_PER_PAGE - 1; index > 0; index--) this.#free.push({ page, index })
    return { page, index: 0 }
  }

  #post(hold?: SharedHold): void {
    if (this.#ended || this.#again !== undefined) return
    try {
      this.#port ??= this.#open()
    } catch (thrown) {
      // It is tried again later. Until then, the holds are renewed here only.
      this.#died(errorOf(thrown))
      return
    }
    const over = this.#over
    this.#over = []
    this.#port.post(hold === undefined ? { over } : { hold, over })
  }

  #open(): ThreadPort {
    const { opener, log } = this.#options
    return opener.open(this.#alive, { told: log, ended: (error) => this.#died(error) })
  }

  /** While it is gone, the holds are renewed here as ever. */
  #died(error: Error): void {
    this.#port = undefined
    if (this.#ended) return
    this.#options.fail(error)
    this.#again = this.#options.clock.setTimer(
      () => {
        this.#again = undefined
        this.#over = []
        for (const { posted } of this.#tenures.values()) this.#post(posted)
      },
      this.#pause,
      { background: true },
    )
    this.#pause = Math.min(2 * this.#pause, AGAIN_AT_MOST)
  }
}

/** Its terms, its levels or its token have changed. */
const differs = ({ lease, weight, words }: SharedHold, tenure: Tenure): boolean =>
  lease !== tenure.lease || weight !== weightOf(tenure) || words !== wordsOf(tenure)

const weightOf = ({ protocol, level }: Tenure): number => protocol.weight?.(level) ?? 1
const wordsOf = ({ protocol, wire }: Tenure): string => protocol.renewalWords?.(wire) ?? wire

const described = (tenure: Tenure, { number, place }: SharedProof): SharedHold => {
  const { protocol, wire, name, lease } = tenure
  const keys = protocol.renewalKeys?.(wire) ?? [protocol.key]
  const what = {
    script: protocol.renewal.name,
    key: protocol.key,
    keys,
    words: wordsOf(tenure),
    weight: weightOf(tenure),
  }
  return { number, place, name, wire, lease, ...what }
}
