import type { Client } from '../api/client.js'
import type { SlotOptions, SlotResult, SlotRun, Slots } from '../api/slots.js'
import { dateAt, systemClock, timeOf } from '../base/clock.js'
import { checkLease, checkMethods, checkOptions, checkRetry, checkWait, show } from '../check-arguments.js'
import { isAway } from '../away-or-refusing.js'

/** Options of `runCoordinator`. */
export interface RunCoordinatorOptions {
  /**
   * How long node-cron waits for an answer, ms: if the server is unreachable, or if the fire is not due yet by the server's clock. After that, the fire is skipped here. A task in a
   * background process of node-cron must be answered within 5 s. Default 4000; with `retry` no limit.
   */
  readonly wait?: number | undefined
  /** As for `slots.run`: how often a fire may run again if its process has died. Above 0, it does not work for tasks in background processes. Default 0. */
  readonly retry?: number | undefined
  /** As for `client.slots`: how long the server remembers a fire, ms. Default: 7 days. */
  readonly retention?: number | undefined
}

/** What a task of node-cron receives, as far as `runOf` needs it. */
export interface FireContext {
  /** When the fire was due. */
  readonly date: Date
  /** The task. */
  readonly task?: { readonly name?: string | undefined } | undefined
}

/** The `RunCoordinator` of node-cron: each fire of a task with `distributed: true` runs in one process. */
export interface RunCoordinator {
  /** Called by node-cron when a task is due. `key` is the task's name and the fire's time, `ttlMs` the task's `distributedLease`. */
  shouldRun(key: string, ttlMs: number): Promise<boolean>
  /** Called by node-cron when the task has ended. Rejects if its slot was lost meanwhile: another process may have run it, too. */
  onComplete(key: string): Promise<void>
  /** The signal and the fencing token of a run, for the task that runs here. `undefined`: the task is not coordinated, or not running. */
  runOf(context: FireContext): SlotRun | undefined
}

const KNOWN = ['wait', 'retry', 'retention']
/** ms. A background process of node-cron waits 5 s for its answer, and would not hear of a later one. */
const WAIT = 4000
/** How soon the server is asked again, ms. */
const AGAIN = 500

interface Checked {
  readonly wait: number
  readonly retry: number
  readonly retention: number | undefined
}

const check = (options: RunCoordinatorOptions | undefined): Checked => {
  const { wait, retry = 0, retention } = checkOptions(options, KNOWN)
  checkRetry(retry)
  if (retention !== undefined) checkLease(retention, 'retention')
  return { wait: checkWait(wait ?? (retry > 0 ? Infinity : WAIT)), retry, retention }
}

/** One fire, as its key names it. */
interface Fire {
  readonly key: string
  readonly name: string
  readonly due: Date
}

const KEY = /^(?<name>.+):(?<time>\d{4}-\d\d-\d\dT[\d:.]+Z)$/s

const fireOf = (key: string): Fire => {
  const { name, time = '' } = KEY.exec(key)?.groups ?? {}
  const due = timeOf(time)
  if (name !== undefined && !Number.isNaN(due)) return { key, name, due: dateAt(due) }
  throw new TypeError(`the key must be the name of a task and the time of its fire, not ${show(key)}`)
}

/** A fire that runs here. */
interface Running {
  readonly run: SlotRun
  /** The task has ended. */
  readonly end: () => void
  readonly result: () => Promise<SlotResult<void>>
}

/** There is no answer yet. */
interface Later {
  /** ms until the server is asked again. */
  readonly ms: number
  /** The error if that is too late. */
  readonly why: unknown
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void systemClock.setTimer(resolve, ms))

/** The answer to node-cron, unless there is none yet. */
const answerOf = (result: SlotResult<void>): boolean | Later => {
  if (result.outcome !== 'skipped') return true
  const { reason, late = 0, by } = result
  if (reason === 'early') {
    const why = new Error(`the fire is not due yet: this machine's clock is ${-late} ms ahead of the server's`)
    return { ms: -late, why }
  }
  // Its process has only the lock, and may die before it claims the slot.
  if (reason === 'running' && by === undefined)
    return { ms: AGAIN, why: new Error('another process is claiming the fire') }
  return false
}

/** A timer that ends a question: no answer may come after it. */
const limited = (wait: number): { signal: AbortSignal; cancel: () => void } => {
  const limit = new AbortController()
  if (wait === Infinity) return { signal: limit.signal, cancel: () => undefined }
  const end = (): void => limit.abort(new DOMException(`no answer within ${wait} ms`, 'TimeoutError'))
  const timer = systemClock.setTimer(end, wait)
  return { signal: limit.signal, cancel: () => timer.cancel() }
}

class SlotCoordinator implements RunCoordinator {
  readonly #client: Pick<Client, 'slots'>
  readonly #options: Checked
  /** Two tasks of one process may have the same name. */
  readonly #running = new Map<string, Running[]>()

  constructor(client: Pick<Client, 'slots'>, options: Checked) {
    this.#client = client
    this.#options = options
  }

  async shouldRun(key: string, ttlMs: number): Promise<boolean> {
    const fire = fireOf(key)
    const { wait, retry, retention } = this.#options
    const slots = this.#client.slots(fire.name, { retention })
    const { signal, cancel } = limited(wait)
    const until = systemClock.monotonic() + wait
    try {
      for (;;) {
        const answer = await this.#ask(slots, fire, { retry, lease: ttlMs, signal })
        if (typeof answer === 'boolean') return answer
        if (systemClock.monotonic() + answer.ms > until) throw answer.why
        await pause(answer.ms)
      }
    } finally {
      cancel()
    }
  }

  async onComplete(key: string): Promise<void> {
    const [running, ...others] = this.#running.get(key) ?? []
    if (others.length > 0) this.#running.set(key, others)
    else this.#running.delete(key)
    if (running === undefined) return
    const { signal } = running.run
    const lost = signal.aborted
    running.end()
    const result = await running.result()
    if (result.outcome === 'failed') throw result.error
    if (lost) signal.throwIfAborted()
  }

  runOf({ date, task }: FireContext): SlotRun | undefined {
    return this.#running.get(`${task?.name}:${date.toISOString()}`)?.at(-1)?.run
  }

  async #ask(slots: Slots, fire: Fire, options: SlotOptions): Promise<boolean | Later> {
    try {
      return await this.#claim(slots, fire, options)
    } catch (why) {
      if (isAway(why)) return { ms: AGAIN, why }
      throw why
    }
  }

  /** Resolves as soon as the slot is claimed. It stays claimed, and its lease is renewed, until `onComplete`. */
  #claim(slots: Slots, { key, due }: Fire, options: SlotOptions): Promise<boolean | Later> {
    return new Promise((resolve, reject) => {
      // `run` may wait for a server that is away. After the limit it does not begin any more.
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason))
      const result: Promise<SlotResult<void>> = slots.run(due, options, (run) => {
        resolve(true)
        return new Promise<void>((end) => this.#begin(key, { run, end, result: () => result }))
      })
      result.then((settled) => resolve(answerOf(settled)), reject)
    })
  }

  #begin(key: string, running: Running): void {
    this.#running.set(key, [...(this.#running.get(key) ?? []), running])
  }
}

/**
 * Makes a `RunCoordinator` for node-cron, from version 4.4.1 on: each fire of a task with `distributed: true` is a slot of `client.slots`, and runs in the process that claims it
 * first. Pass it to `cron.setRunCoordinator`, or to a task as `runCoordinator`.
 */
export const runCoordinator = (client: Pick<Client, 'slots'>, options?: RunCoordinatorOptions): RunCoordinator => {
  checkMethods(client, 'client', ['slots'])
  return new SlotCoordinator(client, check(options))
}
