import { systemClock } from '../../base/clock.js'
import type { Hold } from '../../api/hold.js'
import type { Lock } from '../../api/lock.js'
import type { Inside } from './inside.js'
import type { Act, Line, Stage } from './stage.js'

/** What the demo needs from a client. */
export interface Connected {
  lock(name: string): Lock
  close(options?: { release?: boolean }): Promise<void>
}

export type Connect = (options: {
  url: string
  watchdog: number
  label?: string
  presence?: boolean
}) => Promise<Connected>

export interface TurnOptions {
  /** A fixed lease, never renewed. If omitted: renewed while the work lasts. */
  readonly lease?: number
  readonly onGets?: () => void
  readonly onLost?: () => void
}

export interface TroupeOptions {
  readonly client: Connected
  /** Workers with a client of their own. The others share `client`. */
  readonly clients: ReadonlyMap<string, Connected>
  readonly stage: Stage
  readonly inside: Inside
  readonly watchdog: number
  readonly key: (lock: string) => string
  readonly onLine: (line: Line) => void
}

const STEP = 20

/** Sleeps until the time is over or the signal aborts. Never rejects. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted || ms <= 0) return resolve()
    const done = (): void => {
      timer.cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = systemClock.setTimer(done, ms)
    signal.addEventListener('abort', done)
  })

/** Workers on real locks. Whatever happens to them is played on the stage, at the time it happens. */
export class Troupe {
  readonly #options: TroupeOptions
  readonly #start = systemClock.monotonic()
  readonly #curtain = new AbortController()
  readonly #holds = new Map<string, Hold>()
  readonly #pauses = new Map<string, Promise<void>>()
  readonly #asking = new Set<string>()
  #watchers: { readonly lock: string; readonly resolve: (worker: string | undefined) => void }[] = []
  #over = false

  constructor(options: TroupeOptions) {
    this.#options = options
  }

  /** Aborts at the end of the show: no worker asks any more, and waiting ones give up. */
  get curtain(): AbortSignal {
    return this.#curtain.signal
  }

  fallen(): boolean {
    return this.#curtain.signal.aborted
  }

  now(): number {
    return systemClock.monotonic() - this.#start
  }

  lock(name: string, worker = ''): Lock {
    const { client, clients, key } = this.#options
    return (clients.get(worker) ?? client).lock(key(name))
  }

  fall(): void {
    this.#curtain.abort()
    for (const { resolve } of this.#watchers.splice(0)) resolve(undefined)
  }

  /** Plays nothing any more, not even what closing the client does to the holds. */
  over(): void {
    this.#over = true
    this.fall()
  }

  play(act: Act): void {
    if (this.#over) return
    const line = this.#options.stage.play(act, this.now())
    if (line !== undefined) this.#options.onLine(line)
    if (act.kind !== 'gets') return
    const told = this.#watchers.filter(({ lock }) => lock === act.lock)
    this.#watchers = this.#watchers.filter(({ lock }) => lock !== act.lock)
    for (const { resolve } of told) resolve(act.worker)
  }

  say(text: string, tone: 'plain' | 'good' | 'bad' | 'lost' = 'plain'): void {
    this.play({ kind: 'caption', text, tone })
  }

  /** The worker that acquires the lock next; `undefined` if the show ends first. */
  next(lock: string): Promise<string | undefined> {
    if (this.#curtain.signal.aborted) return Promise.resolve(undefined)
    return new Promise((resolve) => this.#watchers.push({ lock, resolve }))
  }

  /** From now on no worker asks for the lock, until the returned function is called. */
  pause(lock: string): () => void {
    let reopen = (): void => undefined
    this.#pauses.set(lock, new Promise((resolve) => (reopen = resolve)))
    return reopen
  }

  /** Asks, waits, works, and releases. */
  async turn(worker: string, name: string, work: number, options: TurnOptions = {}): Promise<void> {
    await this.#pauses.get(name)
    if (this.#curtain.signal.aborted) return
    const hold = await this.#ask(worker, name, options.lease)
    if (hold === undefined) return
    const { inside, watchdog } = this.#options
    inside.enter(name, worker)
    this.#holds.set(name, hold)
    this.play({
      kind: 'gets',
      worker,
      lock: name,
      lease: options.lease ?? watchdog,
      fixed: options.lease !== undefined,
    })
    options.onGets?.()
    let told = false
    const onLost = (): void => {
      if (told) return
      told = true
      inside.leave(name, worker)
      this.play({ kind: 'loses', worker, lock: name })
      options.onLost?.()
    }
    hold.signal.addEventListener('abort', onLost, { once: true })
    await this.inside(worker, name, work, hold.signal)
    hold.signal.removeEventListener('abort', onLost)
    if (this.#holds.get(name) === hold) this.#holds.delete(name)
    // The signal alone is not enough: after this process was stopped, other timers may run before the one that fires it.
    if (hold.lost || hold.signal.aborted) onLost()
    else {
      inside.leave(name, worker)
      this.play({ kind: 'frees', worker, lock: name })
    }
    await hold.release()
  }

  /** Works inside the lock, and checks all the time for a second worker in there. */
  async inside(worker: string, name: string, work: number, signal: AbortSignal): Promise<void> {
    const ends = AbortSignal.any([signal, this.#curtain.signal])
    const end = this.now() + work
    while (!ends.aborted && this.now() < end) {
      this.#options.inside.check(name, worker)
      await sleep(Math.min(STEP, end - this.now()), ends)
    }
  }

  /** Updates what changes without an act: the time left of every lease, and the checks made. */
  sample(): void {
    const { stage, inside } = this.#options
    stage.checks = inside.checks
    stage.violations = inside.violations
    for (const { name, holder } of stage.locks) {
      if (holder === undefined) continue
      const hold = this.#holds.get(name)
      if (hold !== undefined) stage.sample(name, hold.remaining())
      else if (holder.fate === 'lost') stage.sample(name, 0)
      else this.#askServer(name)
    }
  }

  async #ask(worker: string, name: string, lease: number | undefined): Promise<Hold | undefined> {
    this.play({ kind: 'asks', worker, lock: name })
    try {
      return await this.lock(name, worker).acquire({ lease, signal: this.#curtain.signal })
    } catch (error) {
      if (!this.#curtain.signal.aborted) throw error
      this.play({ kind: 'gives up', worker, lock: name })
      return undefined
    }
  }

  /** Only the server knows about a hold of another client. */
  #askServer(name: string): void {
    if (this.#asking.has(name) || this.#over) return
    this.#asking.add(name)
    const answer = (left: number | undefined): void => {
      this.#asking.delete(name)
      if (!this.#holds.has(name)) this.#options.stage.sample(name, left ?? 0)
    }
    this.lock(name)
      .remaining()
      .then(answer, () => answer(undefined))
  }
}
