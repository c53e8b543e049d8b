import { type Clock, limitAnswers, type Timer } from '../base/clock.js'
import { EngineError } from '../errors.js'
import type { Connection, Driver } from './engine.js'

/** How much longer than a command may take a server may say nothing at all, ms; and up to so much more, so that not all clients come at once. */
const MARGIN = 1000
const SPREAD = 250
/** Between two renewals, ms: the first comes nearly at once, each of the next waits twice as long. */
const SHORTEST = 100
const LONGEST = 3000
/** After so long without trouble the next one is the first again. */
const FORGIVEN = 10_000

interface RenewalOptions {
  readonly clock: Clock
  readonly commandTimeout: number
}

/** Replaces connections that lie: open but silent, or to a server that has become a replica. */
export class Reconnects {
  readonly #driver: Driver
  readonly #options: RenewalOptions
  readonly #tell: (error: Error) => void
  readonly #suspects = new Map<Connection, Timer>()
  #renewing: Timer | undefined
  #dialing: Timer | undefined
  #attempts = 0
  #last = -Infinity
  #closed = false

  /** `tell`: of what only the owner of the connection can mend. */
  constructor(driver: Driver, options: RenewalOptions, tell: (error: Error) => void) {
    this.#driver = driver
    this.#options = options
    this.#tell = tell
  }

  /** An answer is overdue. A connection that brings nothing at all from now on is dropped. */
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
    return this.#closed ? [] : (this.#driver.owing?.() ?? [])
  }

  /** It is being made anew; whoever accepts it may never say a word. */
  away(): void {
    if (this.#closed || this.#driver.owing === undefined) return
    const { clock, commandTimeout } = this.#options
    const look = (): void => {
      this.suspect()
      this.#dialing = clock.setTimer(look, commandTimeout, { background: true })
    }
    this.#dialing ??= clock.setTimer(look, commandTimeout, { background: true })
  }

  arrived(): void {
    this.#dialing?.cancel()
    this.#dialing = undefined
  }

  /** The server refuses as a replica does: another may be the master by now. */
  misled(refusal: EngineError): void {
    const { clock } = this.#options
    const driver = this.#driver
    if ((driver.renew === undefined && driver.lent !== true) || this.#renewing !== undefined || this.#closed) return
    if (clock.monotonic() - this.#last > FORGIVEN) this.#attempts = 0
    const act = (): void => {
      this.#renewing = undefined
      this.#last = clock.monotonic()
      if (driver.lent === true) this.#tell(onlyTheOwner(refusal))
      else driver.renew?.()
    }
    const pause = Math.min(SHORTEST * 2 ** this.#attempts++, LONGEST)
    this.#renewing = clock.setTimer(act, pause * (0.75 + 0.5 * clock.random()), { background: true })
  }

  /** It answers what was not asked. */
  outOfStep(error: EngineError): void {
    const now = this.#options.clock.monotonic()
    if (this.#closed || now - this.#last <= FORGIVEN) {
      this.misled(error)
      return
    }
    this.#last = now
    this.#driver.renew?.()
  }

  stop(): void {
    this.#closed = true
    this.arrived()
    this.#renewing?.cancel()
    for (const timer of this.#suspects.values()) timer.cancel()
    this.#suspects.clear()
  }
}

const onlyTheOwner = ({ code, message }: EngineError): EngineError =>
  new EngineError(
    code,
    `the connection passed in leads to a replica, and only its owner can connect it anew (see docs/connections.md): ${message}`,
  )
