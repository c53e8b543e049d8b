import type { Client } from '../../api/client.js'
import type { ListedLock, SkippedLock } from '../../api/listing.js'
import { textOf } from '../../thrown.js'
import { locksAt } from '../locks/find.js'
import { LeftOut } from '../locks/left-out.js'
import { withoutSilent } from '../locks/places.js'
import { signsOf } from '../locks/signs.js'
import { restoreTerminal } from '../restore-terminal.js'
import { codeOfSignal } from '../exit-code.js'
import { serverClock } from '../server-clock.js'
import { paint } from '../text/styled-row.js'
import { Screen } from '../text/screen.js'
import { frame, heightOf, type Shown, type Size, type Snapshot } from './frame.js'
import { type Key, keysIn } from './keys.js'
import { FIRST_VIEW, idOf, pressed, rowsFor, type View, type Wish } from './view.js'

export interface TopOptions {
  readonly view: Partial<View>
  /** ms from the end of one reading to the next. */
  readonly interval: number
  readonly where: string
  /** The options with which another command reaches the same server. */
  readonly server: readonly string[]
  readonly list: (onSkipped: (skipped: SkippedLock) => void) => AsyncIterable<ListedLock>
}

/** ms. Ages grow between two readings, too. */
const REDRAW = 500

/** The list of the locks as a picture that follows them, with keys. */
export class Top {
  readonly #options: TopOptions
  readonly #client: Client
  readonly #screen = new Screen(process.stdout, Infinity, Infinity)
  readonly #colours = !process.env['NO_COLOR']
  readonly #now: () => number
  #view: View
  #snapshot: Snapshot
  #over = false
  #wake: () => void = () => undefined
  #end: (code: number) => void = () => undefined

  private constructor(client: Client, options: TopOptions, now: () => number) {
    this.#client = client
    this.#options = options
    this.#now = now
    this.#view = { ...FIRST_VIEW, ...options.view }
    this.#snapshot = { where: options.where, locks: [], readAt: now(), now: now() }
  }

  /** Runs until the user quits, and returns the exit code. Rejects if the list cannot be read at first. */
  static async run(client: Client, options: TopOptions): Promise<number> {
    const top = new Top(client, options, await serverClock(client))
    await top.#read()
    return top.#live()
  }

  async #read(): Promise<void> {
    const locks: ListedLock[] = []
    const leftOut = new LeftOut()
    for await (const lock of this.#options.list(leftOut.add)) locks.push(lock)
    const { where } = this.#options
    const now = this.#now()
    const shown = await this.#readShown(locks)
    const living = locks.map((lock) => withoutSilent(lock, now))
    this.#snapshot = { where, locks: living, shown, readAt: now, now, trouble: leftOut.text }
  }

  /** The lock that is on the screen alone, as `holdfast show` asks about it. */
  async #readShown(locks: readonly ListedLock[]): Promise<Shown | undefined> {
    const { page, selected: id } = this.#view
    if (page !== 'lock' || id === undefined) return undefined
    const { shown } = this.#snapshot
    const before = shown?.lock === undefined ? [] : [shown.lock]
    const known = [...locks, ...this.#snapshot.locks, ...before].find((one) => idOf(one) === id)
    if (known === undefined) return undefined
    try {
      const found = await locksAt(this.#client, known.name, known.kind)
      const lock = found.find((one) => idOf(one) === id)
      return { id, lock, signs: await signsOf(this.#client, lock === undefined ? [] : [lock]) }
    } catch {
      // This says nothing about the other locks: the list goes on.
      return { id, lock: known, signs: new Map() }
    }
  }

  async #live(): Promise<number> {
    const unguard = restoreTerminal({ restore: this.#leave, stop: () => this.#client.close() })
    const ended = new Promise<number>((end) => (this.#end = end))
    const redraw = setInterval(this.#draw, REDRAW)
    process.stdout.on('resize', this.#draw)
    process.on('SIGCONT', this.#enter)
    process.stdin.setEncoding('utf8').on('data', this.#typed).on('end', this.#inputEnded)
    this.#enter()
    const reading = this.#readOn()
    try {
      return await ended
    } finally {
      this.#over = true
      clearInterval(redraw)
      process.stdout.off('resize', this.#draw)
      process.off('SIGCONT', this.#enter)
      process.stdin.off('data', this.#typed).off('end', this.#inputEnded).pause()
      this.#leave()
      unguard()
      this.#wake()
      await reading
    }
  }

  async #readOn(): Promise<void> {
    for (;;) {
      await this.#pause()
      if (this.#over) return
      try {
        await this.#read()
      } catch (error) {
        this.#snapshot = { ...this.#snapshot, trouble: textOf(error) }
      }
      this.#draw()
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.interval)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  get #size(): Size {
    // Some terminals do not know their size.
    return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }
  }

  readonly #draw = (): void => {
    if (this.#over) return
    const snapshot = { ...this.#snapshot, now: this.#now() }
    const rows = frame(snapshot, this.#view, this.#size, this.#options.server)
    this.#screen.draw(rows.map((row) => paint(row, this.#colours)))
  }

  readonly #enter = (): void => {
    if (process.stdin.isTTY) process.stdin.setRawMode(true)
    this.#screen.enter()
    this.#draw()
  }

  readonly #leave = (): void => {
    this.#screen.leave()
    if (process.stdin.isTTY) process.stdin.setRawMode(false)
  }

  readonly #inputEnded = (): void => this.#end(0)

  readonly #typed = (input: string): void => {
    for (const key of keysIn(input)) this.#press(key)
    this.#draw()
  }

  #press(key: Key): void {
    const next = pressed(this.#view, key, rowsFor(this.#snapshot.locks, this.#view, this.#now()), heightOf(this.#size))
    if (typeof next !== 'object') return this.#grant(next)
    const opens = next.page === 'lock' && this.#view.page !== 'lock'
    this.#view = next
    if (opens) this.#wake()
  }

  #grant(wish: Wish): void {
    if (wish === 'quit') this.#end(0)
    else if (wish === 'interrupt') this.#end(codeOfSignal('SIGINT'))
    else if (wish === 'refresh') this.#wake()
    else {
      this.#leave()
      process.kill(process.pid, 'SIGSTOP')
    }
  }
}
