import { platform } from '#platform'
import type { Tenure } from '../hold/tenure.js'
import type { LineProtocol } from '../protocol/line-protocol.js'
import type { LineHost } from '../waiting/gate-host.js'

/** Resolves when everything that follows at once from this tick is done. */
const tickOver = (): Promise<void> => new Promise((resolve) => queueMicrotask(() => platform.nextTick(resolve)))

/**
 * Confirms grants whose waiters work already. If the last hold ended within its tick, the next one is given its tick, too:
 * then one step frees it, and no step needs to confirm it.
 */
export class TrialConfirmer {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  #brief = false

  constructor(host: LineHost, protocol: LineProtocol) {
    this.#host = host
    this.#protocol = protocol
  }

  begin(tenure: Tenure): void {
    void this.#host.staying(async () => {
      const { wire, lease } = tenure
      const tick = tickOver()
      const confirming = (tenure.confirming = this.#confirm(tenure, this.#brief ? tick : undefined))
      await tick
      this.#brief = tenure.over
      // The grant is gone, but the place may still stand in the line.
      if ((await confirming) === 0) await this.#host.runtime.undo.acquire(this.#protocol, wire, lease, undefined)
    })
  }

  /** Confirms the grant, unless it is over by `then`. Repeats until the server answers, or the trial is over. 0: it was gone. */
  async #confirm(tenure: Tenure, then?: Promise<void>): Promise<number | undefined> {
    if (then !== undefined) await then
    let sent = tenure.now()
    const step = (): Promise<number> => {
      sent = tenure.now()
      return this.#protocol.confirm(tenure.wire, tenure.lease).catch((error: unknown) => {
        tenure.doubt(error)
        throw error
      })
    }
    const outcome = tenure.over ? undefined : await this.#host.runtime.retry.insist(step, tenure.lostAt)
    if (outcome === undefined || !('answer' in outcome)) return undefined
    if (!tenure.over) tenure.confirmed(outcome.answer, sent)
    return outcome.answer
  }
}
