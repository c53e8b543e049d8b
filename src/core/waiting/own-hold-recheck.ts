import type { Timer } from '../../base/clock.js'
import type { GateHost } from './gate-host.js'
import { POLL } from '../../script-times-and-limits.js'

/** While other calls wait here, a hold of this process is not trusted for longer than from one poll to the next. */
export class HoldRecheck {
  readonly #host: Pick<GateHost, 'runtime' | 'tenure' | 'rested'>
  readonly #waits: () => boolean
  #timer: Timer | undefined

  /** `waits`: whether a call waits here. */
  constructor(host: Pick<GateHost, 'runtime' | 'tenure' | 'rested'>, waits: () => boolean) {
    this.#host = host
    this.#waits = waits
  }

  start(): void {
    if (this.#timer !== undefined || !this.#waits() || this.#host.tenure === undefined) return
    const { clock } = this.#host.runtime.options
    this.#timer = clock.setTimer(
      () => {
        this.#timer = undefined
        if (!this.#waits()) {
          this.#host.rested()
          return
        }
        const { tenure } = this.#host
        const aged = tenure !== undefined && clock.monotonic() - tenure.provenAt > POLL / 2
        if (aged) tenure.verify().catch(() => undefined)
        this.start()
      },
      POLL * (0.9 + 0.2 * clock.random()),
    )
  }

  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
