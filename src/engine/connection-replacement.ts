import { limitAnswers, type Timer } from '../base/clock.js'
import { EngineError } from '../errors.js'
import type { Connection, Driver } from './driver.js'
import type { TimeoutOptions } from './reply-timeouts.js'

/** How much longer than a command may take a server may say nothing at all, ms; and up to so much more, so that not all clients come at once. */
const MARGIN = 1000
const SPREAD = 250
/** Between two replacements, ms: the first comes nearly at once, each of the next waits twice as long. */
const SHORTEST = 100
const LONGEST = 3000
/** After so long without trouble the next one is the first again. */
const FORGIVEN = 10_000

/** For what only the caller can mend, whose connection it is. */
interface ReplacementEvents {
  error(error: Error): void
  moved(): void
}

/** Replaces connections that are open and useless: silent, out of step, or to a server that has become a replica. */
export class ConnectionReplacement {
  readonly #driver: Driver
  readonly #options: TimeoutOptions
  readonly #events: ReplacementEvents
  readonly #suspects = new Map<Connection, Timer>()
  #planned: Timer | undefined
  #dialing: Timer | undefined
  #attempts = 0
  #last = -Infinity
  #stopped = false

  constructor(driver: Driver, options: TimeoutOptions, events: ReplacementEvents) {
    this.#driver = driver
    this.#options = options
    this.#events = events
  }

  /** A reply is overdue. A connection that brings nothing at all from now on is dropped. */
  suspect(): void {
    const { clock } = this.#options
    for (const connection of this.#owing()) {
      if (this.#suspects.has(connection)) continue
      const { bytesRead } = connection
      const judge = (): void => {
        this.#suspects.delete(connection)
        if (connection.bytesRead === bytesRead && this.#owing().includes(connection))
          connection.destroy(new Error('the server said nothing for too long'))
      }
      const ms = MARGIN + SPREAD * clock.random()
      this.#suspects.set(connection, limitAnswers(clock, judge, ms, { background: true }))
    }
  }

  #owing(): Connection[] {
    return this.#stopped ? [] : (this.#driver.owing?.() ?? [])
  }

  /** It is being made anew; whoever accepts it may never say a word. */
  disconnected(): void {
    if (this.#stopped || this.#driver.owing === undefined) return
    const { clock, commandTimeout } = this.#options
    const look = (): void => {
      this.suspect()
      this.#dialing = clock.setTimer(look, commandTimeout, { background: true })
    }
    this.#dialing ??= clock.setTimer(look, commandTimeout, { background: true })
  }

  connected(): void {
    this.#dialing?.cancel()
    this.#dialing = undefined
  }

  /** The server refuses as a replica does: another may be the master by now. */
  refused(refusal: EngineError): void {
    const { clock } = this.#options
    const driver = this.#driver
    if ((driver.reconnect === undefined && driver.lent !== true) || this.#planned !== undefined || this.#stopped) return
    if (clock.monotonic() - this.#last > FORGIVEN) this.#attempts = 0
    const act = (): void => {
      this.#planned = undefined
      this.#last = clock.monotonic()
      if (driver.lent === true) this.#events.error(onlyTheOwner(refusal))
      else driver.reconnect?.()
    }
    const pause = Math.min(SHORTEST * 2 ** this.#attempts++, LONGEST)
    this.#planned = clock.setTimer(act, pause * (0.75 + 0.5 * clock.random()), { background: true })
  }

  /** Its replies are those of other commands. On a connection of the caller's, what is held must be asked about. */
  outOfStep(error: EngineError): void {
    const now = this.#options.clock.monotonic()
    if (this.#driver.lent === true) this.#events.moved()
    else if (this.#stopped || now - this.#last <= FORGIVEN) this.refused(error)
    else {
      this.#last = now
      this.#driver.reconnect?.()
    }
  }

  stop(): void {
    this.#stopped = true
    this.connected()
    this.#planned?.cancel()
    for (const timer of this.#suspects.values()) timer.cancel()
    this.#suspects.clear()
  }
}

const onlyTheOwner = ({ code, message }: EngineError): EngineError =>
  new EngineError(
    code,
    `the connection passed in leads to a replica, and only its owner can connect it anew (see docs/connections.md): ${message}`,
  )
