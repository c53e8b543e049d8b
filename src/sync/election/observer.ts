import type { Timer } from '../../base/clock.js'
import { MessageThrottle } from '../../core/waiting/message-throttle.js'
import { isTransient } from '../../core/server/transient-or-unsure-errors.js'
import type { Leader, Leaders } from '../../api/election.js'
import type { TopicListener } from '../topic/topic-listener.js'
import type { Topics } from '../topic/topics.js'
import type { LeaderRecord, Reading } from './leader-record.js'
import { LONGEST_MESSAGE } from '../../core/server/shared-subscriptions.js'
import type { Codec } from '../../api/codec.js'
import { abortOf, onAbort } from '../../base/abort.js'

/** How often it looks without a message, ms, in case a message was lost. */
const LOOK = 5000
/** How soon it looks again if the server is away, ms. */
const AGAIN = 1000
/** If a lock ends later than before by more than this, ms, it was renewed: clocks count in whole ms. */
const RENEWED = 20
/** How long after the end of a lease it looks, ms: by then the lease is surely over. */
const AFTER = 2

/** Reads only whether a message can be one that holdfast sends: what it says does not count. */
const IS_SHORT: Codec = { encode: String, decode: (data) => data.length <= LONGEST_MESSAGE }

const DONE = { done: true, value: undefined } as const

type Result<V> = IteratorResult<Leader<V> | undefined, undefined>

interface Waiting<V> {
  readonly resolve: (result: Result<V>) => void
  readonly reject: (error: unknown) => void
}

export interface ObserverOptions<V> {
  readonly name: string
  readonly topics: Topics
  readonly leadership: LeaderRecord
  readonly signal: AbortSignal | undefined
  readonly shown: (reading: Reading) => Promise<Leader<V>>
}

/** After a failover, two leaders may have the same term. */
const isSame = (one: Reading | undefined, other: Reading | undefined): boolean => {
  if (one === undefined || other === undefined) return one === other
  return (['term', 'revision', 'client', 'since'] as const).every((what) => one[what] === other[what])
}

/** Shows who leads, again and again. A message only causes a look; what observers see always comes from the server. */
export class Observer<V> implements Leaders<V> {
  readonly #options: ObserverOptions<V>
  readonly #pace = new MessageThrottle()
  #listening: Promise<TopicListener | undefined> | undefined
  #waiting: Waiting<V>[] = []
  /** The news that no call has received yet. */
  #news: { leader: Leader<V> | undefined } | undefined
  /** The last reading; `undefined` before the first look. */
  #last: { reading: Reading | undefined } | undefined
  /** The newest leader seen so far. */
  #newest: Reading | undefined
  /** An older leader that the last look found. */
  #old: Reading | undefined
  #looking = false
  #again = false
  /** A look is due because of a message. */
  #owed = false
  #timer: Timer | undefined
  #due = Infinity
  #end: { error?: unknown } | undefined
  #left: Promise<void> | undefined
  /** Ends the pause after which it tries again to listen. */
  #hurry: () => void = () => undefined

  constructor(options: ObserverOptions<V>) {
    this.#options = options
  }

  next(): Promise<Result<V>> {
    if (this.#end !== undefined) return this.#over(this.#end)
    this.#listening ??= this.#listen()
    const news = this.#news
    this.#news = undefined
    if (news !== undefined) return Promise.resolve({ done: false, value: news.leader })
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
    })
  }

  async return(): Promise<Result<V>> {
    this.#stop({})
    await this.#left
    return DONE
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  async #listen(): Promise<TopicListener | undefined> {
    const { name, topics, leadership, signal } = this.#options
    const kind = topics.runtime.sharded ? 'sharded' : 'plain'
    const place = { title: name, kind, name: leadership.channel, codec: IS_SHORT } as const
    const failed = (error: unknown): void => this.#stop({ error })
    const hear = (short: unknown): void => {
      if (short === true) this.#heard()
    }
    while (this.#end === undefined)
      try {
        const listening = await topics.listen(place, hear, signal, failed)
        listening.on('gap', () => this.#lookIn(0))
        listening.atEnd(() => this.#stop(abortOf(signal) ?? {}))
        this.#lookIn(0)
        return listening
      } catch (error) {
        if (isTransient(error)) await this.#pause()
        else failed(error)
      }
    return undefined
  }

  /** Ends early if the observer does. */
  async #pause(): Promise<void> {
    const { topics, signal } = this.#options
    const unlisten = signal && onAbort(signal, () => this.#stop(abortOf(signal) ?? {}))
    await topics.runtime.background.pause(AGAIN, (wake) => (this.#hurry = wake))
    unlisten?.()
  }

  /** Several messages before a look cause only one look. */
  #heard(): void {
    if (this.#looking) this.#again = true
    else if (!this.#owed) this.#lookIn(this.#owe())
  }

  /** Returns in how many ms to look because of a message. */
  #owe(): number {
    this.#owed = true
    return this.#pace.delay(this.#options.topics.runtime.options.clock.monotonic())
  }

  #lookIn(ms: number): void {
    if (this.#end !== undefined) return
    if (this.#looking) {
      this.#again = true
      return
    }
    const { clock } = this.#options.topics.runtime.options
    const due = clock.monotonic() + ms
    if (due >= this.#due) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (ms > 0) {
      this.#due = due
      this.#timer = clock.setTimer(() => this.#look(), ms)
    } else this.#look()
  }

  #look(): void {
    this.#timer = undefined
    this.#due = Infinity
    this.#looking = true
    this.#again = this.#owed = false
    void this.#ask().then((next) => {
      this.#looking = false
      this.#lookIn(this.#again ? Math.min(next, this.#owe()) : next)
    })
  }

  /** Looks, and returns in how many ms to look again. */
  async #ask(): Promise<number> {
    const { leadership } = this.#options
    try {
      const reading = await leadership.read()
      const isOld = reading !== undefined && this.#isOld(reading) && !this.#isRenewed(reading)
      if (!isOld) {
        this.#old = undefined
        await this.#see(reading)
      }
      return reading === undefined || reading.left < 0 ? LOOK : Math.min(LOOK, reading.left + AFTER)
    } catch (error) {
      if (!isTransient(error)) this.#stop({ error })
      return AGAIN
    }
  }

  /**
   * After a failover, the server may have lost its newest data. If the newest leader began in the future, it was forged, or a clock was ahead: then no
   * leader counts as older.
   */
  #isOld({ term, since, now }: Reading): boolean {
    const newest = this.#newest
    if (newest === undefined || newest.since > now) return false
    return term < newest.term && since <= newest.since
  }

  /** An older leader that renews its lock does lead: the newest one was forged, or its data was lost. */
  #isRenewed(reading: Reading): boolean {
    const old = isSame(this.#old, reading) ? this.#old : undefined
    this.#old = old ?? reading
    return old !== undefined && reading.now + reading.left > old.now + old.left + RENEWED
  }

  async #see(reading: Reading | undefined): Promise<void> {
    const last = this.#last
    if (last !== undefined && isSame(last.reading, reading)) return
    this.#last = { reading }
    if (reading !== undefined) this.#newest = reading
    const leader = reading && (await this.#options.shown(reading))
    if (this.#end !== undefined) return
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#news = { leader }
    else waiting.resolve({ done: false, value: leader })
  }

  #stop(end: { error?: unknown }): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#news = undefined
    this.#timer?.cancel()
    this.#hurry()
    this.#left = this.#listening?.then((listening) => listening?.unsubscribe())
    this.#left?.catch(() => undefined)
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve, reject } of waiting) this.#over(end).then(resolve, reject)
  }

  #over(end: { error?: unknown }): Promise<Result<V>> {
    if (!('error' in end)) return Promise.resolve(DONE)
    this.#end = {}
    return Promise.reject(end.error)
  }
}
