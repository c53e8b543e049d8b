import { type Moment, momentOf, type Timer } from '../../base/clock.js'
import type { Runtime } from '../../core/client/runtime.js'
import { slotOf } from '../../keys.js'
import { permitSemaphoreRenew } from '../../lua/scripts.gen.js'
import type { HoldState } from '../../api/hold.js'

/** How many permits one question covers. */
const BATCH = 250
/** How soon it asks again about permits in doubt, ms. */
const AGAIN = 1000

/** A permit that never expires. */
interface Permanent {
  /** The key on the server that has its id. */
  readonly timeouts: string
  readonly wire: string
  readonly state: HoldState
  question(now: Moment, cause: unknown): void
  /** The permit exists for this many ms; -1: for ever; -2: it does not exist. */
  found(left: number, sent: Moment): void
}

/**
 * The permits of this client that never expire. No message reports that another client released one of them by its id. So this
 * client asks the server as often as a lease would end, and ends the permits that are gone.
 */
export class PermanentPermits {
  readonly #runtime: Runtime
  readonly #held = new Set<Permanent>()
  #timer: Timer | undefined

  private constructor(runtime: Runtime) {
    this.#runtime = runtime
    runtime.questions.add((cause) => this.#question(cause))
  }

  static of(runtime: Runtime): PermanentPermits {
    let all = permanent.get(runtime)
    if (all === undefined) permanent.set(runtime, (all = new PermanentPermits(runtime)))
    return all
  }

  add(permit: Permanent): void {
    this.#held.add(permit)
    if (this.#timer === undefined) this.#arm()
  }

  remove(permit: Permanent): void {
    if (!this.#held.delete(permit) || this.#held.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** Another server may answer from now on. */
  #question(cause: unknown): void {
    const now = momentOf(this.#runtime.options.clock)
    for (const permit of this.#held) permit.question(now, cause)
    if (this.#held.size > 0) void this.#look()
  }

  #arm(ms = this.#runtime.options.watchdog): void {
    this.#timer?.cancel()
    this.#timer = this.#runtime.options.clock.setTimer(() => void this.#look(), ms, { background: true })
  }

  async #look(): Promise<void> {
    this.#timer = undefined
    const { link } = this.#runtime
    const batches = new Map<number, Permanent[][]>()
    for (const permit of this.#held) {
      const slot = link.cluster ? slotOf(permit.timeouts) : 0
      const open = batches.get(slot) ?? [[]]
      batches.set(slot, open)
      if ((open.at(-1) as Permanent[]).push(permit) === BATCH) open.push([])
    }
    // A batch without an answer is asked about again next time.
    for (const batch of [...batches.values()].flat()) await this.#ask(batch).catch(() => undefined)
    if (this.#held.size === 0) return
    const doubtful = [...this.#held].some(({ state }) => state === 'uncertain')
    this.#arm(doubtful ? AGAIN : undefined)
  }

  async #ask(batch: readonly Permanent[]): Promise<void> {
    if (batch.length === 0 || !this.#runtime.link.isUp) return
    const sent: Moment = momentOf(this.#runtime.options.clock)
    const keys = batch.map(({ timeouts }) => timeouts)
    const left = await this.#runtime.link.run(permitSemaphoreRenew, keys, [0, ...batch.map(({ wire }) => wire)])
    batch.forEach((permit, i) => permit.found(left[i] ?? -2, sent))
  }
}

const permanent = new WeakMap<Runtime, PermanentPermits>()
