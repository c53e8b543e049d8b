import { changed } from '../lock-changes.js'
import type { Difference, ShownLock, Snapshot, Unchanged } from '../page-messages.js'

/** What the page knows, and whether it is still told. */
export interface Known {
  readonly around: Told | undefined
  readonly locks: ReadonlyMap<string, ShownLock>
  /** `connecting`: it has heard nothing yet. `lost`: the dashboard does not answer. */
  readonly link: 'connecting' | 'live' | 'polling' | 'lost'
  /** Since when the dashboard has not answered, ms since the epoch, by this machine's clock. */
  readonly lostAt: number | undefined
  /** What the dashboard, or something before it, answers instead. */
  readonly refusal: string | undefined
}

/** What stands beside the locks, and what this page may do. */
export type Told = Omit<Snapshot, 'locks'>

/** ms. After so long a silence beyond the time between two readings the stream counts as dead. */
const SILENCE = 4000
/** ms. The silence that is allowed doubles with each failure, up to this: on a slow line a snapshot takes its time. */
const MOST_SILENCE = 16_000
/** ms between two tries to open a stream, and between two polls. */
const RETRY = 1000
const POLL = 2000
/** After so many streams that failed at once, or one that brought nothing, the page polls. So often it then tries a stream again, while it polls. */
const FAILURES = 2
const TRY_STREAM = 10_000
/** ms. A page that has heard nothing by then looks once: a proxy may hold back the stream. */
const GLANCE = 1500

/** Keeps the page up to date: by one stream, or by polling. Does nothing while the page is hidden. */
export class Live {
  #known: Known = { around: undefined, locks: new Map(), link: 'connecting', lostAt: undefined, refusal: undefined }
  readonly #changed: () => void
  #source: EventSource | undefined
  #timer: number | undefined
  #pollTimer: number | undefined
  #polls = false
  #failures = 0
  #patience = SILENCE
  #streamAt = 0
  /** ms that the server's clock is ahead of this machine's. */
  #ahead = 0

  constructor(changed: () => void) {
    this.#changed = changed
    document.addEventListener('visibilitychange', () => this.#visible())
    this.#visible()
  }

  get known(): Known {
    return this.#known
  }

  /** The server's time. */
  now(): number {
    return Date.now() + this.#ahead
  }

  #visible(): void {
    this.#stop()
    if (document.hidden) return
    this.#open()
    if (this.#known.around === undefined) this.#startPolling(GLANCE)
  }

  #stop(): void {
    this.#source?.close()
    this.#source = undefined
    window.clearTimeout(this.#timer)
    this.#stopPolling()
  }

  #stopPolling(): void {
    this.#polls = false
    window.clearTimeout(this.#pollTimer)
  }

  #after(ms: number, then: () => void): void {
    window.clearTimeout(this.#timer)
    this.#timer = window.setTimeout(then, ms)
  }

  #open(): void {
    this.#source?.close()
    this.#streamAt = Date.now()
    const after = this.#known.around?.reading ?? ''
    const source = new EventSource(after === '' ? 'events' : `events?after=${encodeURIComponent(after)}`)
    this.#source = source
    source.addEventListener('snapshot', ({ data }) => this.#heard(data as string, this.#snapshot))
    source.addEventListener('difference', ({ data }) => this.#heard(data as string, this.#difference))
    source.addEventListener('unchanged', ({ data }) => this.#heard(data as string, this.#unchanged))
    source.addEventListener('error', () => this.#failed())
    source.addEventListener('end', () => this.#open())
    this.#after(this.#patience + RETRY, () => this.#failed())
  }

  #heard(data: string, take: (data: string) => void): void {
    this.#failures = 0
    this.#stopPolling()
    if (Date.now() - this.#streamAt < SILENCE) this.#patience = SILENCE
    take(data)
    this.#after((this.#known.around?.every ?? RETRY) + this.#patience, () => this.#failed())
  }

  readonly #snapshot = (data: string): void => {
    const { locks, ...around } = JSON.parse(data) as Snapshot
    this.#take(around, new Map(locks.map((lock) => [lock.id, lock])), 'live')
  }

  readonly #difference = (data: string): void => {
    const { set, changed: changes, gone, ...around } = JSON.parse(data) as Difference
    // A difference without a snapshot before it says nothing.
    const { around: known } = this.#known
    if (known === undefined) return
    const locks = new Map(this.#known.locks)
    for (const id of gone) locks.delete(id)
    for (const lock of set) locks.set(lock.id, lock)
    for (const change of changes) {
      const lock = locks.get(change.id)
      if (lock !== undefined) locks.set(lock.id, changed(lock, change, around.at))
    }
    this.#take({ ...around, may: known.may }, locks, 'live')
  }

  readonly #unchanged = (data: string): void => {
    this.#take(JSON.parse(data) as Unchanged, this.#known.locks, 'live')
  }

  #take(around: Told, locks: ReadonlyMap<string, ShownLock>, link: 'live' | 'polling'): void {
    this.#setClock(around.now)
    this.#known = { around, locks, link, lostAt: undefined, refusal: undefined }
    this.#changed()
  }

  /** A small difference is the way of the message, which is not always equally long. */
  #setClock(now: number): void {
    const ahead = now - Date.now()
    if (Math.abs(ahead - this.#ahead) > 250) this.#ahead = ahead
  }

  #failed(): void {
    this.#source?.close()
    this.#failures += 1
    this.#patience = Math.min(MOST_SILENCE, this.#patience * 2)
    if (this.#failures >= FAILURES) this.#startPolling(0)
    this.#after(this.#polls && this.#known.link !== 'lost' ? TRY_STREAM : RETRY, () => this.#open())
  }

  #startPolling(ms: number): void {
    if (this.#polls) return
    this.#polls = true
    this.#pollTimer = window.setTimeout(() => void this.#poll(), ms)
  }

  async #poll(): Promise<void> {
    try {
      const response = await fetch('state', { signal: AbortSignal.timeout(this.#patience) })
      const refusal = await refusalOf(response)
      const state = refusal === undefined ? ((await response.json()) as Snapshot) : undefined
      // Meanwhile the stream may have brought something newer.
      if (this.#polls) this.#polled(state, refusal)
    } catch {
      if (this.#polls) this.#lost(undefined)
    }
    if (this.#polls)
      this.#pollTimer = window.setTimeout(() => void this.#poll(), this.#known.link === 'lost' ? RETRY : POLL)
  }

  #polled(state: Snapshot | undefined, refusal: string | undefined): void {
    if (state === undefined) {
      this.#lost(refusal)
      return
    }
    const { locks, ...around } = state
    const back = this.#known.link === 'lost'
    this.#take(around, new Map(locks.map((lock) => [lock.id, lock])), 'polling')
    if (back) this.#open()
  }

  #lost(refusal: string | undefined): void {
    this.#known = { ...this.#known, refusal, link: 'lost', lostAt: this.#known.lostAt ?? Date.now() }
    this.#changed()
  }
}

const LONGEST_REFUSAL = 300

/** Undefined: it is an answer of the dashboard. Something before it may want a password, or send to a page where one logs in. */
const refusalOf = async (response: Response): Promise<string | undefined> => {
  const type = response.headers.get('content-type') ?? ''
  if (response.ok && type.startsWith('application/json')) return undefined
  const text = type.startsWith('text/plain') ? (await response.text()).trim().slice(0, LONGEST_REFUSAL) : ''
  if (text !== '') return text
  return response.ok ? 'Another page answers. Perhaps you must log in again.' : `The answer is ${response.status}.`
}

/** What the page can do with what one owner holds. */
export type Deed = 'release' | 'extend' | 'ask'

/** Asks the dashboard to do it. Resolves to why it was not done; undefined: it was. */
export const send = async (deed: Deed, body: Readonly<Record<string, unknown>>): Promise<string | undefined> => {
  try {
    const response = await fetch(deed, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return await refusalOf(response)
  } catch {
    return 'The dashboard does not answer.'
  }
}
