import type { Clock, Timer } from '../../base/clock.js'
import { EngineError } from '../../errors.js'
import type { Watchdog } from '../hold/watchdog.js'
import type { Replicas } from '../server/replicas.js'
import type { ServerTime } from '../server/server-time.js'
import type { SharedSubscriptions } from '../server/shared-subscriptions.js'
import type { LockEvents } from './lock-events.js'

/** ms. If there is no sign of moving slots for this long, they have stopped moving. */
const SETTLES = 250

/** The parts of a client that must know that another server may answer from now on. */
interface Concerned {
  readonly options: { readonly clock: Clock }
  readonly watchdog: Pick<Watchdog, 'question'>
  readonly replicas: Pick<Replicas, 'look'>
  readonly subscriptions: Pick<SharedSubscriptions, 'gap'>
  readonly serverTimes: ReadonlyMap<number, ServerTime>
  readonly questions: ReadonlySet<(cause: unknown) => void>
  readonly lockEvents: Pick<LockEvents, 'reconnected'>
}

/** Tells holds, waiters and subscriptions about a reconnect, a failover, or slots that moved. */
export class AfterReconnect {
  readonly #concerned: Concerned
  #moving: Timer | undefined

  constructor(concerned: Concerned) {
    this.#concerned = concerned
  }

  /** Holds may be in doubt, and waiters may have missed a release. */
  reconnected(): void {
    const { replicas, subscriptions, lockEvents } = this.#concerned
    this.#forgetTimes()
    void replicas.look()
    this.#question()
    subscriptions.gap()
    lockEvents.reconnected()
  }

  /** While slots move, each command may report it. So we ask about the holds now, and once more when the moving has ended. */
  moved(): void {
    this.#forgetTimes()
    if (this.#moving === undefined) this.#question()
    this.#moving?.cancel()
    this.#moving = this.#concerned.options.clock.setTimer(
      () => {
        this.#moving = undefined
        this.#question()
      },
      SETTLES,
      { background: true },
    )
  }

  /** Messages were lost. */
  gap(): void {
    this.#forgetTimes()
    this.#concerned.subscriptions.gap()
  }

  /** Each of the two connections may lead to another server now. */
  #forgetTimes(): void {
    for (const time of this.#concerned.serverTimes.values()) time.forget()
  }

  #question(): void {
    const cause = new EngineError('OFFLINE', 'the keys may be on another server now')
    this.#concerned.watchdog.question(cause)
    for (const ask of this.#concerned.questions) ask(cause)
  }
}
