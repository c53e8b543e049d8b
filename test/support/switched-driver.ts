import type { Driver, DriverEvents, SendOptions, SubscriptionKind } from '#src/engine/driver.js'
import { NoReply, NotSent } from '#src/engine/driver.js'
import type { MemoryDriver } from '#src/engine/memory/driver.js'
import type { Arg, Reply } from '#src/lua/values.js'

/** What becomes of a command: it never arrives, it is done and its answer is lost, or it is done when `comeLate` says so. */
export type Loss = 'request' | 'answer' | 'late'

const always = (): undefined => undefined

/** The embedded server behind a connection that is cut when told, and loses what it is told to lose. */
export class SwitchedDriver implements Driver {
  readonly address = 'memory:switched'
  readonly cluster = false
  /** Asked for each command by its words. */
  loses: (words: readonly string[]) => Loss | undefined = always
  /** The server says no to everything, in these words. */
  refuses: string | undefined
  readonly sent: (readonly string[])[] = []
  readonly #driver: MemoryDriver
  readonly #late: (() => Promise<unknown>)[] = []
  readonly #unanswered: ((error: Error) => void)[] = []
  #events: DriverEvents | undefined
  #up = true

  constructor(driver: MemoryDriver) {
    this.#driver = driver
  }

  get isUp(): boolean {
    return this.#up && this.#driver.isUp
  }

  set up(up: boolean) {
    if (up === this.#up) return
    this.#up = up
    if (up) this.#events?.up(true)
    else {
      this.#events?.down(new Error('cut'))
      for (const reject of this.#unanswered.splice(0)) reject(new NoReply('cut'))
    }
  }

  /** Only the next command that is such a one. */
  loseNext(loss: Loss, word: string): void {
    this.loses = (words) => {
      if (!words.some((one) => one.includes(word))) return undefined
      this.loses = always
      return loss
    }
  }

  /** What was under way all the time arrives. */
  async comeLate(): Promise<void> {
    for (const send of this.#late.splice(0)) await send()
  }

  open(events: DriverEvents): Promise<void> {
    this.#events = events
    return this.#driver.open(events)
  }

  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('cut'))
    if (this.refuses !== undefined) return Promise.reject(new Error(this.refuses))
    const words = argv.map(String)
    this.sent.push(words)
    const loss = this.loses(words)
    const send = (): Promise<Reply> => this.#driver.send(argv, options)
    if (loss === undefined) return send()
    if (loss === 'answer') void send().catch(() => undefined)
    if (loss === 'late') this.#late.push(send)
    return new Promise((_resolve, reject) => {
      this.#unanswered.push(reject)
    })
  }

  subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    return this.isUp ? this.#driver.subscribe(name, kind) : Promise.reject(new NotSent('cut'))
  }

  unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    return this.#driver.unsubscribe(name, kind)
  }

  close(): Promise<void> {
    return this.#driver.close()
  }
}
