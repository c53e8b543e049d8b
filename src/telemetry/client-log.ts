import type { Client } from '../api/client.js'
import type { Deadlock } from '../api/deadlock.js'
import type { ClientEvents, Health } from '../api/monitoring.js'
import type { Clock, Timer } from '../base/clock.js'
import { plainText } from '../plain-text.js'
import { partOf, textOf } from '../thrown.js'
import type { Write } from './log-style.js'

/** How often it checks the client's health, and how long a server may be away before that is logged, ms. */
const LOOK = 5000
/** ms. The log only waits for the client to be closed: the shortest `drain` counts, and this is never that. */
const NO_HURRY = Number.MAX_SAFE_INTEGER
/** How many calls of a deadlock one line names. */
const MOST_CALLS = 10

/** What the log needs of a client. */
export type LoggedClient = Pick<Client, 'id' | 'warnings' | 'closing' | 'on' | 'off' | 'health' | 'close'>

const cycleOf = ({ cycle }: Deadlock): string =>
  cycle
    .slice(0, MOST_CALLS)
    .map(({ name, client, label }) => `${plainText(name)} (${plainText(label ?? client)})`)
    .join(' → ')

/** Messages of the server name no lock. */
const targetOf = (error: Error): string | undefined => {
  const target = partOf(error, 'target')
  return typeof target === 'string' ? plainText(target) : undefined
}

/** Writes what an operator wants to know about one client, each thing once. */
export class ClientLog {
  readonly #client: LoggedClient
  readonly #write: Write
  readonly #clock: Clock
  #timer: Timer | undefined
  #stopped = false
  /** Whether the log says that the client is connected. */
  #up = false
  #away = false
  #awaySince = Infinity
  #warnings = 0
  #listeners: { readonly [E in keyof ClientEvents]: (what: ClientEvents[E][0]) => void } = {
    lost: ({ name, error }) => this.#tell('warn', 'a hold was lost', { lock: plainText(name), reason: textOf(error) }),
    uncertain: ({ name, cause }) =>
      this.#tell('warn', 'a hold is uncertain: a renewal failed or is overdue', {
        lock: plainText(name),
        reason: cause === undefined ? undefined : textOf(cause),
      }),
    deadlock: (deadlock) =>
      this.#tell('warn', 'a deadlock was found', { calls: deadlock.cycle.length, cycle: cycleOf(deadlock) }),
    reconnect: () => this.#back(),
    error: (error) =>
      this.#tell('error', 'something went wrong in the background', { lock: targetOf(error), reason: textOf(error) }),
  }
  readonly #ended: () => void
  /** Losses while the client closes belong in the log, too. */
  readonly #closes = (): void => {
    const closed = Promise.resolve().then(() => this.#client.close({ drain: NO_HURRY }))
    void closed.catch(() => undefined).then(() => this.#closed())
  }

  /** `ended`: called once, when there is nothing more to log. */
  constructor(client: LoggedClient, write: Write, clock: Clock, ended: () => void = () => undefined) {
    this.#client = client
    this.#write = write
    this.#clock = clock
    for (const event of this.#events()) client.on(event, this.#listeners[event] as never)
    this.#ended = ended
    if (client.closing.aborted) this.#closes()
    else client.closing.addEventListener('abort', this.#closes)
    void this.#look()
  }

  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#timer?.cancel()
    for (const event of this.#events()) this.#client.off(event, this.#listeners[event] as never)
    this.#client.closing.removeEventListener('abort', this.#closes)
    this.#ended()
  }

  #closed(): void {
    if (this.#stopped) return
    this.#tell('info', 'closed', {})
    this.stop()
  }

  #events(): (keyof ClientEvents)[] {
    return Object.keys(this.#listeners) as (keyof ClientEvents)[]
  }

  #tell(...[level, message, fields]: Parameters<Write>): void {
    this.#write(level, message, { client: this.#client.id, ...fields })
  }

  /** Looks at what no event tells. */
  async #look(): Promise<void> {
    this.#warn()
    const health = await this.#client.health().catch(() => undefined)
    if (this.#stopped) return
    // While it closes, the connection ends as it should.
    if (health !== undefined && !this.#client.closing.aborted) this.#healthIs(health)
    this.#timer = this.#clock.setTimer(() => void this.#look(), LOOK, { background: true })
  }

  #warn(): void {
    // A deadlock is an event, too.
    for (const warning of this.#client.warnings.slice(this.#warnings))
      if (!warning.startsWith('deadlock: ')) this.#tell('warn', warning, {})
    this.#warnings = this.#client.warnings.length
  }

  #healthIs({ state, since, latency }: Health): void {
    if (state === 'up') this.#isUp(latency)
    else this.#isAway(since)
  }

  /** The health of a silent server only knows since when it has not answered the last command. */
  #isAway(since: number): void {
    this.#awaySince = Math.min(this.#awaySince, since)
    const ms = Math.round(this.#clock.now() - this.#awaySince)
    if (ms < LOOK || this.#away) return
    this.#away = true
    this.#tell('warn', 'the server is away', { ms })
  }

  #isUp(latency: number | undefined): void {
    if (!this.#up) this.#tell('info', 'connected', { ms: latency === undefined ? undefined : Math.round(latency) })
    else if (this.#away) this.#back()
    this.#knownUp()
  }

  #back(): void {
    this.#knownUp()
    this.#tell('info', 'the server is back', {})
  }

  #knownUp(): void {
    this.#up = true
    this.#away = false
    this.#awaySince = Infinity
  }
}
