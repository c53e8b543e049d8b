import { changed } from '../lock-changes.js'
import type { Message, ShownLock, Snapshot } from '../page-messages.js'

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
/** ms. A page that has been opened or shown, and has heard nothing by then, polls meanwhile: a proxy may hold back the stream. */
const GLANCE = 1500

/** Keeps the page up to date: by one stream, or by polling. Does nothing while the page is hidden. */
export class Live {
  #known: Known = { around: undefined, locks: new Map(), link: 'connecting', lostAt: undefined, refusal: undefined }
  readonly #changed: () => void
  #source: EventSource | undefined
  #timer: number | undefined
  /** Set while the page polls. */
  #polling: AbortController | undefined
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
    this.#startPolling(GLANCE)
  }

  #stop(): void {
    this.#source?.close()
    this.#source = undefined
    window.clearTimeout(this.#timer)
    this.#stopPolling()
  }

  #stopPolling(): void {
    this.#polling?.abort()
    this.#polling = undefined
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
    for (const event of ['snapshot', 'difference', 'unchanged'])
      source.addEventListener(event, ({ data }: MessageEvent<string>) => this.#heard(JSON.parse(data) as Message))
    source.addEventListener('error', () => this.#failed())
    source.addEventListener('end', () => this.#open())
    this.#after(this.#patience + RETRY, () => this.#failed())
  }

  #heard(message: Message): void {
    this.#failures = 0
    this.#stopPolling()
    if (Date.now() - this.#streamAt < SILENCE) this.#patience = SILENCE
    this.#take(message, 'live')
    this.#after((this.#known.around?.every ?? RETRY) + this.#patience, () => this.#failed())
  }

  /** Of what the stream and the polls bring, nothing counts twice: a difference counts only for a page that knows the reading before it. */
  #take(message: Message, link: 'live' | 'polling'): void {
    const locks = locksAfter(message, this.#known)
    if (locks === undefined) {
      // This asks for what has changed since the reading that the page knows.
      this.#open()
      return
    }
    this.#setClock(message.now)
    this.#known = { around: toldBy(message, this.#known), locks, link, lostAt: undefined, refusal: undefined }
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
    const polls = this.#failures >= FAILURES && this.#known.link !== 'lost'
    this.#after(polls ? TRY_STREAM : RETRY, () => this.#open())
  }

  #startPolling(ms: number): void {
    if (this.#polling !== undefined) return
    this.#polling = new AbortController()
    void this.#poll(ms, this.#polling)
  }

  /** Until the stream brings something: what a poll brings after that is older. */
  async #poll(ms: number, { signal }: AbortController): Promise<void> {
    const isOver = (): boolean => signal.aborted
    for (let pause = ms; ; pause = this.#known.link === 'lost' ? RETRY : POLL) {
      await new Promise((resolve) => window.setTimeout(resolve, pause))
      if (isOver()) return
      const answer = await stateNow(signal, this.#patience)
      if (isOver()) return
      const back = this.#known.link === 'lost'
      if (typeof answer !== 'object') this.#lost(answer)
      else this.#take(answer, 'polling')
      if (back && this.#known.link !== 'lost') this.#open()
    }
  }

  #lost(refusal: string | undefined): void {
    this.#known = { ...this.#known, refusal, link: 'lost', lostAt: this.#known.lostAt ?? Date.now() }
    this.#changed()
  }
}

/** What stands beside the locks in a message, without the locks: `Known` has them once. */
const toldBy = (message: Message, { around }: Known): Told => {
  const {
    may = around?.may ?? 'read',
    locks: _all,
    after: _after,
    set: _set,
    changed: _changed,
    gone: _gone,
    ...rest
  } = message
  return { ...rest, may }
}

/** The locks after a message. Undefined: it says what differs from a reading that the page does not know. */
const locksAfter = (message: Message, known: Known): ReadonlyMap<string, ShownLock> | undefined => {
  const { reading, at, after, locks, set = [], changed: changes = [], gone = [] } = message
  if (locks !== undefined) return new Map(locks.map((lock) => [lock.id, lock]))
  if (known.around?.reading === reading) return known.locks
  if (known.around?.reading !== after) return undefined
  const next = new Map(known.locks)
  for (const id of gone) next.delete(id)
  for (const lock of set) next.set(lock.id, lock)
  for (const change of changes) {
    const lock = next.get(change.id)
    if (lock !== undefined) next.set(lock.id, changed(lock, change, at))
  }
  return next
}

const LONGEST_REFUSAL = 300

/** The state, or why the dashboard does not show it; undefined: it does not answer. `AbortSignal.any` is too new for some browsers that show the page. */
const stateNow = async (over: AbortSignal, ms: number): Promise<Snapshot | string | undefined> => {
  const asking = new AbortController()
  const stop = (): void => asking.abort()
  const timer = window.setTimeout(stop, ms)
  over.addEventListener('abort', stop)
  try {
    const response = await fetch('state', { signal: asking.signal })
    const refusal = await refusalOf(response)
    if (refusal !== undefined) return refusal
    const state = (await response.json()) as Snapshot
    return Array.isArray(state.locks) ? state : 'Another program answers.'
  } catch {
    return undefined
  } finally {
    window.clearTimeout(timer)
    over.removeEventListener('abort', stop)
  }
}

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
