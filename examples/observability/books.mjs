// What the app counts itself, so that you can compare it with what Prometheus says. An app of yours has no use for this.
import { AcquireTimeoutError, DeadlockError } from 'holdfast'

const outcomeOf = (error) =>
  error instanceof AcquireTimeoutError ? 'timeout' : error instanceof DeadlockError ? 'refused' : 'error'

const secondsSince = (began) => (performance.now() - began) / 1000

export class Books {
  /** How the calls for locks ended. */
  calls = { granted: 0, timeout: 0, refused: 0, error: 0 }
  /** How long they waited and held, s. */
  waits = []
  holds = []
  /** How the holds ended. */
  ends = { released: 0, lost: 0 }
  decisions = { allowed: 0, refused: 0 }
  /** How long the decisions took, s. */
  deciding = []
  lost = 0
  uncertain = 0
  reconnects = 0
  deadlocks = 0

  constructor(client) {
    client.on('lost', () => (this.lost += 1))
    client.on('uncertain', () => (this.uncertain += 1))
    client.on('reconnect', () => (this.reconnects += 1))
    client.on('deadlock', () => (this.deadlocks += 1))
  }

  /** `lock.using`, counted. */
  async using(lock, options, work) {
    const began = performance.now()
    let hold, granted
    try {
      return await lock.using(options, async (given) => {
        hold = given
        granted = performance.now()
        this.#called('granted', began)
        return work(hold)
      })
    } catch (error) {
      if (hold === undefined) this.#called(outcomeOf(error), began)
      throw error
    } finally {
      if (hold !== undefined) this.#ended(hold, granted)
    }
  }

  /** `limiter.tryAcquire`, counted. */
  async decide(limiter) {
    const began = performance.now()
    const { allowed } = await limiter.tryAcquire()
    this.deciding.push(secondsSince(began))
    this.decisions[allowed ? 'allowed' : 'refused'] += 1
    return allowed
  }

  #called(outcome, began) {
    this.calls[outcome] += 1
    this.waits.push(secondsSince(began))
  }

  #ended({ signal }, granted) {
    this.ends[signal.aborted ? 'lost' : 'released'] += 1
    this.holds.push(secondsSince(granted))
  }
}
