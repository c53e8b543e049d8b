import { limitAnswers, type Timer } from '../base/clock.js'
import { EngineError } from '../errors.js'
import type { Connection, Driver } from './driver.js'
import type { TimeoutOptions } from './reply-timeouts.js'

/** How much longer than a command's time limit a server may be silent, ms; plus a random part, so that not all clients reconnect at once. */
const MARGIN = 1000
const SPREAD = 250
/** The pause between two replacements, ms: short at first, and doubled each time. */
const SHORTEST = 100
const LONGEST = 3000
/** After this many ms without trouble, the pause is short again. */
const FORGIVEN = 10_000

/** Reports what only the caller can fix, because the connection is the caller's. */
interface ReplacementEvents {
  error(error: Error): void
  moved(): void
}

/** Replaces connections that are open but useless: silent, out of step, or to a server that has become a replica. */
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

  /** A reply is overdue. Drops each connection that receives nothing at all from now on. */
  suspect(): void {
    const { clock } = this.#options
    for (const connection of this.#owing()) {
      if (this.#suspects.has(connection)) continue
      const { bytesRead } = connection
      const judge = (): void => {
        this.#suspects.delete(connection)
        if (connection.bytesRead === bytesRead && this.#owing().includes(connection))
          connection.destroy(new Error('the server sent nothing for too long'))
      }
      const ms = MARGIN + SPREAD * clock.random()
      this.#suspects.set(connection, limitAnswers(clock, judge, ms, { background: true }))
    }
  }

  #owing(): Connection[] {
    return this.#stopped ? [] : (this.#driver.owing?.() ?? [])
  }

  /** The connection is being restored. A server may accept it and then never answer. */
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

  /** The server refuses as a replica does, so another server may be the master by now. */
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

  /** The replies belong to other commands. On the caller's own connection, this client asks the server again about everything it holds. */
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
    `your connection leads to a replica, and only you can reconnect it (see docs/connections.md): ${message}`,
  )
