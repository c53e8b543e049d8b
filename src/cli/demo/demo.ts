import { randomBytes } from 'node:crypto'
import { systemClock } from '../../base/clock.js'
import { restoreTerminal } from '../restore-terminal.js'
import { shownAddress } from '../shown-address.js'
import { Inside } from './inside.js'
import { type OnPage, onPage } from './on-page.js'
import { Output } from './output.js'
import { Stage } from './stage.js'
import { LOCKS, story, WATCHDOG, WORKERS } from './story.js'
import { victim, type Victim } from './victim.js'
import { sleep, Troupe, type Connect, type Connected } from './workers.js'

export interface DemoOptions {
  readonly connect: Connect
  readonly seconds: number
  readonly plain: boolean
  readonly url: string | undefined
  /** Shows the same in a browser, at a pace that a reader follows, with a line for each event here. */
  readonly dashboard: boolean
}

const FRAME = 90
/** How long the story takes at full pace, ms. */
const FULL = 10_000
/** The part of the time that is kept at the end, to see all locks released. */
const LAST = 0.06

/** A page is read once a second, and shows what has lasted for a second. */
const SLOWEST_ON_PAGE = 4

/** Less than 1 if there is less time than the story needs. */
const paceOf = ({ seconds, dashboard }: DemoOptions): number =>
  Math.min(dashboard ? SLOWEST_ON_PAGE : 1, (seconds * 1000) / FULL)

const watchdogOf = (options: DemoOptions): number => Math.round(WATCHDOG * paceOf(options))

interface DemoServer {
  readonly client: Connected
  readonly url: string
  readonly page: OnPage | undefined
}

class Demo {
  readonly #stage = new Stage(LOCKS)
  readonly #inside = new Inside()
  readonly #options: DemoOptions
  readonly #client: Connected
  readonly #output: Output
  readonly #troupe: Troupe
  readonly #victim: Victim
  readonly #pace: number
  readonly #page: OnPage | undefined
  readonly #over = new AbortController()

  constructor(options: DemoOptions, { client, url, page }: DemoServer) {
    this.#options = options
    this.#client = client
    this.#page = page
    this.#output = new Output(options.plain || options.dashboard)
    this.#pace = paceOf(options)
    const watchdog = watchdogOf(options)
    // Two demos on one server must not meet, nor may a demo meet real locks. The embedded engine has nobody else.
    const run = randomBytes(4).toString('hex')
    const alone = url.startsWith('memory:')
    const key = (lock: string): string => (alone ? lock : `holdfast-demo:${run}:${lock}`)
    const onLine = this.#output.line.bind(this.#output)
    const clients = page?.clients ?? new Map<string, Connected>()
    this.#troupe = new Troupe({ client, clients, stage: this.#stage, inside: this.#inside, watchdog, key, onLine })
    this.#victim = victim(options.connect, { url, watchdog, label: 'cleo', lock: key('orders') })
  }

  async run(): Promise<number> {
    const unguard = restoreTerminal({ restore: this.#output.restore, stop: () => this.#stop() })
    process.on('SIGTSTP', this.#output.suspend).on('SIGCONT', this.#output.enter)
    this.#output.enter()
    if (this.#page !== undefined) process.stdout.write(`Open in your browser: ${this.#page.address}\n\n`)
    const drawing = this.#draw()
    try {
      const code = await this.#show()
      // A signal came meanwhile: the process ends, and there is no summary.
      return this.#over.signal.aborted ? await new Promise<never>(() => {}) : code
    } catch (error) {
      if (this.#over.signal.aborted) await new Promise<never>(() => {})
      throw error
    } finally {
      this.#output.restore()
      process.off('SIGTSTP', this.#output.suspend).off('SIGCONT', this.#output.enter)
      await this.#stop()
      await drawing
      unguard()
    }
  }

  async #show(): Promise<number> {
    const end = this.#options.seconds * 1000
    const cast = { troupe: this.#troupe, inside: this.#inside, victim: this.#victim }
    await story({ ...cast, pace: this.#pace, length: end * (1 - LAST) })
    await new Promise<void>((resolve) => systemClock.setTimer(resolve, end - this.#troupe.now()))
    const locked = await Promise.all(LOCKS.map((name) => this.#troupe.lock(name).isLocked()))
    this.#troupe.sample()
    if (!this.#over.signal.aborted) {
      const left = LOCKS.filter((_, index) => locked[index])
      this.#output.end(this.#stage, left, this.#options.plain)
    }
    return this.#stage.violations === 0 ? 0 : 1
  }

  async #draw(): Promise<void> {
    const { url = 'memory:', seconds } = this.#options
    const where = shownAddress(url)
    while (!this.#over.signal.aborted) {
      this.#troupe.sample()
      this.#output.draw(this.#stage, { where, now: this.#troupe.now(), end: seconds * 1000 })
      await sleep(FRAME, this.#over.signal)
    }
  }

  async #stop(): Promise<void> {
    this.#over.abort()
    this.#troupe.over()
    await Promise.allSettled([this.#victim.end(), this.#page?.close(), this.#client.close()])
  }
}

/** Runs the demo. Returns the exit code, 1 if two workers were ever seen inside one lock. */
export const demo = async (options: DemoOptions): Promise<number> => {
  // Clients meet in an embedded engine by its name.
  const url = options.url === undefined || options.url === 'memory:' ? 'memory:demo' : options.url
  const watchdog = watchdogOf(options)
  const client = await options.connect({ url, watchdog })
  const page = options.dashboard
    ? await onPage({ connect: options.connect, url, watchdog, workers: WORKERS })
    : undefined
  return new Demo(options, { client, url, page }).run()
}
