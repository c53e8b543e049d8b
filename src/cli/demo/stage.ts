import { quoted } from '../../plain-text.js'

/** What the audience sees: the holders, the waiters, and the holders before. Only acts change it; it asks no clock and no lock. */

export type Tone = 'plain' | 'good' | 'bad' | 'lost'

export type Act =
  | { readonly kind: 'asks'; readonly worker: string; readonly lock: string }
  | {
      readonly kind: 'gets'
      readonly worker: string
      readonly lock: string
      readonly lease: number
      readonly fixed: boolean
    }
  | { readonly kind: 'frees'; readonly worker: string; readonly lock: string }
  | { readonly kind: 'crashes'; readonly worker: string; readonly lock: string }
  | { readonly kind: 'loses'; readonly worker: string; readonly lock: string }
  | { readonly kind: 'gives up'; readonly worker: string; readonly lock: string }
  | { readonly kind: 'caption'; readonly text: string; readonly tone: Tone }

/** `crashed` and `lost` stay in the picture until the next worker has the lock. */
export type Fate = 'inside' | 'crashed' | 'lost'

export interface Holder {
  readonly worker: string
  readonly since: number
  readonly lease: number
  readonly fixed: boolean
  fate: Fate
  /** What is left of the lease, as last sampled. */
  left: number
}

export interface LockView {
  readonly name: string
  holder: Holder | undefined
  readonly waiting: { readonly worker: string; readonly since: number }[]
  readonly trail: { readonly worker: string; fate: Fate }[]
  acquired: number
  handOvers: number
  longestWait: number
}

/** One line of the log. */
export interface Line {
  readonly at: number
  readonly lock: string | undefined
  readonly text: string
  readonly tone: Tone
}

export interface Ending {
  readonly worker: string
  readonly lock: string
  readonly at: number
  next?: { readonly worker: string; readonly after: number }
}

const LONGEST_TRAIL = 16
const LONGEST_LOG = 50

export const duration = (ms: number): string => `${(ms / 1000).toFixed(ms < 9950 ? 2 : 1)} s`
export const short = (ms: number): string => `${(Math.max(0, ms) / 1000).toFixed(1)} s`

export class Stage {
  readonly locks: readonly LockView[]
  readonly log: Line[] = []
  readonly crashed: Ending[] = []
  readonly lost: Ending[] = []
  caption: { readonly text: string; readonly tone: Tone } = { text: '', tone: 'plain' }
  checks = 0
  /** How many times two workers were seen inside: the number that must stay 0. */
  violations = 0

  constructor(locks: readonly string[]) {
    this.locks = locks.map((name) => ({
      name,
      holder: undefined,
      waiting: [],
      trail: [],
      acquired: 0,
      handOvers: 0,
      longestWait: 0,
    }))
  }

  lock(name: string): LockView {
    const found = this.locks.find((lock) => lock.name === name)
    if (found === undefined) throw new RangeError(`the demo has no lock ${quoted(name)}`)
    return found
  }

  /** Updates the time left of the lease, as its holder or the server knows it. */
  sample(name: string, left: number): void {
    const { holder } = this.lock(name)
    if (holder !== undefined) holder.left = Math.max(0, left)
  }

  totals(): { acquired: number; handOvers: number; longestWait: number } {
    const total = { acquired: 0, handOvers: 0, longestWait: 0 }
    for (const lock of this.locks) {
      total.acquired += lock.acquired
      total.handOvers += lock.handOvers
      total.longestWait = Math.max(total.longestWait, lock.longestWait)
    }
    return total
  }

  /** Plays one act, and describes it in a line if there is something to report. */
  play(act: Act, at: number): Line | undefined {
    const line = this.#told(act, at)
    if (line !== undefined) {
      this.log.push(line)
      if (this.log.length > LONGEST_LOG) this.log.shift()
    }
    return line
  }

  #told(act: Act, at: number): Line | undefined {
    if (act.kind === 'caption') {
      this.caption = { text: act.text, tone: act.tone }
      return { at, lock: undefined, text: act.text, tone: act.tone }
    }
    const lock = this.lock(act.lock)
    const tell = (text: string, tone: Tone = 'plain'): Line => ({
      at,
      lock: lock.name,
      text: `${act.worker} ${text}`,
      tone,
    })
    switch (act.kind) {
      case 'asks':
        lock.waiting.push({ worker: act.worker, since: at })
        return lock.holder === undefined ? undefined : tell(`waits for ${lock.holder.worker}`)
      case 'gets':
        return tell(this.#gets(lock, act, at), 'good')
      case 'frees': {
        const held = at - (lock.holder?.since ?? at)
        this.#leaves(lock, act.worker)
        return tell(`releases it after ${duration(held)}`)
      }
      case 'crashes':
        this.#ends(lock, act.worker, 'crashed', at)
        return tell('crashes while holding it', 'bad')
      case 'loses':
        this.#ends(lock, act.worker, 'lost', at)
        return tell('notices that the hold is lost, and stops', 'lost')
      case 'gives up':
        this.#stopsWaiting(lock, act.worker)
        return tell('gives up waiting')
    }
  }

  #gets(lock: LockView, act: Act & { kind: 'gets' }, at: number): string {
    const waited = at - this.#stopsWaiting(lock, act.worker, at)
    const before = lock.trail.at(-1)
    lock.acquired++
    lock.longestWait = Math.max(lock.longestWait, waited)
    lock.holder = { worker: act.worker, since: at, lease: act.lease, fixed: act.fixed, fate: 'inside', left: act.lease }
    lock.trail.push({ worker: act.worker, fate: 'inside' })
    if (lock.trail.length > LONGEST_TRAIL) lock.trail.shift()
    const text = waited < 5 ? 'acquires it at once' : `acquires it after ${duration(waited)}`
    if (before === undefined || before.worker === act.worker) return text
    lock.handOvers++
    for (const ending of [...this.crashed, ...this.lost])
      if (ending.lock === lock.name) ending.next ??= { worker: act.worker, after: at - ending.at }
    return `${text} (${before.worker} -> ${act.worker})`
  }

  #stopsWaiting(lock: LockView, worker: string, otherwise = 0): number {
    const index = lock.waiting.findIndex((waiter) => waiter.worker === worker)
    return index < 0 ? otherwise : (lock.waiting.splice(index, 1)[0]?.since ?? otherwise)
  }

  #leaves(lock: LockView, worker: string): void {
    if (lock.holder?.worker === worker) lock.holder = undefined
  }

  #ends(lock: LockView, worker: string, fate: 'crashed' | 'lost', at: number): void {
    if (lock.holder?.worker === worker) lock.holder.fate = fate
    const last = lock.trail.at(-1)
    if (last?.worker === worker) last.fate = fate
    this[fate].push({ worker, lock: lock.name, at })
  }
}
