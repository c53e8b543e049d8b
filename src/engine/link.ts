import { reasonOf } from '../base/abort.js'
import { type Clock, limitAnswers, type Timer } from '../base/clock.js'
import { outside } from '../base/scope.js'
import { ClosedError, ConfigError, EngineError, HoldfastError, serverError, withoutSecrets } from '../errors.js'
import type { Script } from '../lua/script.js'
import { type Shape, integer } from '../lua/shape.js'
import { type Attempt, attempted } from './attempt.js'
import {
  type Driver,
  type Message,
  type Nodes,
  NoReply,
  NotSent,
  type SendOptions,
  type SubscriptionKind,
} from './engine.js'
import { Reconnects } from './reconnects.js'
import { badReply, misled, missingDatabase } from './bad-replies.js'
import { type WaitFor, WaitCommands } from './wait-commands.js'
import type { Arg, Reply } from '../lua/values.js'

/** While there are subscriptions, how often the connection that brings messages is asked for a sign of life, ms. */
const PULSE = 1000

/** Told of what happens on the connection; in the order in which it happened. */
export interface LinkListener {
  message(message: Message): void
  /** Commands can be sent again. */
  reconnected(): void
  /** Other nodes may have the keys. */
  moved(): void
  /** Messages may have been missed. */
  gap(): void
  /** The messages of one channel do not come any more. */
  unheard(kind: SubscriptionKind, name: string): void
  error(error: Error): void
}

export interface LinkOptions {
  readonly clock: Clock
  readonly connectTimeout: number
  readonly commandTimeout: number
}

/** What was sent, for people, and what its reply must be. */
interface Expected {
  readonly name: string
  readonly fits: Shape<unknown>
}

/** A server may take so long for an answer without being away, ms. */
const BUSY = 1000

/** A connection that is silent for so long is dropped before, ms. */
const LONG_SILENCE = 1500

/** What a script answered, and the WAIT behind it. */
type Both = [Reply, Promise<Reply>]

const BY_DEFAULT: SendOptions = {}

const WAIT: Expected = { name: 'WAIT', fits: integer }

interface Pending {
  readonly due: number
  readonly reject: (error: Error) => void
  readonly target: string | undefined
  settled: boolean
}

/**
 * What holds for every driver: the script cache with its one recovery, reply time-outs, sending only while connected,
 * errors with codes and without secrets, open and close once. No reply is
 * believed that is not of the kind that its script declares. Nothing is ever sent twice, save a script that the server
 * said it did not know.
 */
export class Link {
  readonly #driver: Driver
  readonly #options: LinkOptions
  readonly #listener: LinkListener
  /** Oldest first; all have the same time limit, so one timer does for all. */
  #pending: Pending[] = []
  #oldest = 0
  #timer: Timer | undefined
  #upWaiters: (() => void)[] = []
  /** While the first answer is waited for. */
  #whenCut: ((reason: Error) => void) | undefined
  /** By node. */
  readonly #waits = new Map<string, WaitCommands>()
  readonly #renewal: Reconnects
  readonly #subscribed = new Set<string>()
  #pulse: Timer | undefined
  #closed = false
  /** Since the last answer some command has waited in vain. */
  #silent = false
  /** How many commands on the connection for commands were answered. */
  #answers = 0
  /** A question is on its way whose answer no other can be taken for. */
  #probing = false
  /** It has been up. */
  known = false
  /** Since when it is up, or is not; ms since the epoch. */
  since: number

  constructor(driver: Driver, options: LinkOptions, listener: LinkListener) {
    this.#driver = driver
    this.#options = options
    this.#listener = listener
    this.#renewal = new Reconnects(driver, options, (error) => {
      listener.error(error)
    })
    this.since = options.clock.now()
  }

  get address(): string {
    return this.#driver.address
  }

  get cluster(): boolean {
    return this.#driver.cluster
  }

  get isUp(): boolean {
    return this.#driver.isUp
  }

  /** For how long the oldest command without an answer has waited for it, ms. */
  get silence(): number {
    const oldest = this.#pending[this.#oldest]
    const { clock, commandTimeout } = this.#options
    return oldest === undefined ? 0 : commandTimeout - (oldest.due - clock.monotonic())
  }

  /** The server cannot be reached, or is silent for longer than one that is busy. */
  away(target: string): EngineError | undefined {
    if (!this.#driver.isUp) return this.#offline(target)
    if (this.#silent) return this.#noReply(`within ${this.#options.commandTimeout} ms`, target)
    return this.unanswered(BUSY, target)
  }

  /** Some command has waited for its answer for so many ms. */
  unanswered(ms: number, target: string): EngineError | undefined {
    const { silence } = this
    return silence > 0 && silence >= ms ? this.#noReply(`for ${Math.round(silence)} ms`, target) : undefined
  }

  /** Who cannot wait is not kept waiting for a server that is known to be away. */
  checkUp(target: string): void {
    if (!this.#driver.isUp && !this.#closed) throw this.#offline(target)
  }

  async open(attempt: Attempt = { limit: this.#options.connectTimeout }): Promise<void> {
    try {
      const greeted = this.#driver.open(this.#events()).then(() => this.#greet())
      await attempted(this.#options.clock, attempt, greeted)
      this.known = true
    } catch (error) {
      const { signal } = attempt
      const why = signal?.aborted === true ? undefined : await this.#driver.explain?.(error as Error)
      void this.close()
      if (signal?.aborted === true) throw reasonOf(signal)
      if (error instanceof ConfigError) throw error
      throw this.#connectError(why === undefined ? (error as Error) : new Error(why))
    }
  }

  /** Whoever accepts a connection need not be a server, or may not be well: only an answer tells. */
  async #greet(): Promise<void> {
    const cut = new Promise<never>((_resolve, reject) => {
      this.#whenCut = (reason) => {
        reject(new NoReply(reason.message))
      }
    })
    try {
      const reply = await Promise.race([this.#driver.send(['PING']), cut])
      const why = misled(reply)
      if (why !== undefined) throw new ConfigError(`${this.address} cannot be used: ${why}`)
    } catch (error) {
      const { message } = error as Error
      if (
        error instanceof ConfigError ||
        error instanceof NoReply ||
        error instanceof NotSent ||
        serverError(message).code === 'NOAUTH'
      )
        throw error
    } finally {
      this.#whenCut = undefined
    }
  }

  #connectError(error: Error): HoldfastError {
    const missing = missingDatabase(error.message)
    if (missing !== undefined) return new ConfigError(`cannot connect to ${this.address}: ${missing}`, error)
    const known = serverError(error.message)
    const code = known.code === 'SERVER' ? 'OFFLINE' : known.code
    return new EngineError(code, `cannot connect to ${this.address}: ${known.message}`)
  }

  #events(): Parameters<Driver['open']>[0] {
    return {
      message: (message) => {
        this.#listener.message(message)
      },
      up: (again) => {
        this.#renewal.arrived()
        this.#changed()
        this.known = true
        const waiters = this.#upWaiters
        this.#upWaiters = []
        for (const wake of waiters) wake()
        if (again) this.#listener.reconnected()
      },
      down: (reason) => {
        this.#renewal.away()
        this.#changed()
        this.#whenCut?.(reason)
        this.#failPending((target) => this.#noReply(`(${reason.message})`, target))
      },
      moved: () => {
        this.#listener.moved()
      },
      outOfStep: ({ message }) => {
        this.#outOfStep(new EngineError('BAD_REPLY', `${this.address}: ${withoutSecrets(message)}`))
      },
      gap: () => {
        this.#listener.gap()
      },
      unheard: (kind, name) => {
        this.#listener.unheard(kind, name)
      },
      error: (error) => {
        this.#listener.error(new EngineError('OFFLINE', `${this.address}: ${withoutSecrets(error.message)}`))
      },
    }
  }

  #changed(): void {
    this.since = this.#options.clock.now()
  }

  /**
   * Runs a script by its SHA, and once more with its text when the server does not know it.
   * With `wait`, a WAIT follows behind it on the same connection; how many replicas it names, or why it failed, is the second
   * of the two, and may come later. What was sent before a WAIT is among what it is about, so those sent while one is on its way share the next.
   */
  run<K extends readonly string[], A extends readonly Arg[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
    options?: SendOptions,
  ): Promise<R>
  run<K extends readonly string[], A extends readonly Arg[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
    options: SendOptions & { readonly wait: WaitFor },
  ): Promise<readonly [reply: R, replicas: Promise<number | Error>]>
  run(
    script: Script,
    keys: readonly string[],
    args: readonly Arg[],
    options?: SendOptions & { readonly wait?: WaitFor },
  ): Promise<unknown> {
    const sending = this.#driver.cluster ? { route: keys[0], ...options } : (options ?? BY_DEFAULT)
    const call = [options?.readOnly === true ? 'EVALSHA_RO' : 'EVALSHA', script.sha, keys.length, ...keys, ...args]
    const wait = options?.wait
    if (wait !== undefined) return this.#whenUp(() => this.#runAndWait(call, script, sending, wait), sending.target)
    if (this.#canSend) return this.#exchange(call, sending, script, script)
    return this.#whenUp(() => this.#exchange(call, sending, script, script), sending.target, sending.signal)
  }

  #runAndWait(call: Arg[], script: Script, sending: SendOptions, wait: WaitFor): Promise<Both> {
    const both = async (argv: Arg[]): Promise<Both> => {
      let elsewhere: string | undefined
      const redirected = (node: string): void => {
        elsewhere = node
      }
      const node = this.#driver.nodeOf?.(sending.route ?? '')
      const answered = this.#exchange(argv, { ...sending, redirected }, script)
      const behind = this.#waitFor(wait, node)
      const reply = await answered
      // The WAIT behind it was about the node of before.
      return [reply, elsewhere === undefined ? behind : this.#waitFor(wait, elsewhere)]
    }
    return both(call).catch((error: unknown) => {
      if (!(error instanceof EngineError && error.code === 'NOSCRIPT')) throw error
      return both(withText(call, script))
    })
  }

  /** To be called in the turn that sent what it is about, or when that was answered. */
  #waitFor(wait: WaitFor, node = ''): Promise<Reply> {
    let waits = this.#waits.get(node)
    if (waits === undefined) {
      waits = new WaitCommands(({ replicas, timeout }) => this.#exchange(['WAIT', replicas, timeout], { node }, WAIT))
      this.#waits.set(node, waits)
    }
    return waits.join(wait).catch((error: unknown) => error as Error)
  }

  /** One plain command. */
  command<R>(argv: readonly Arg[], fits: Shape<R>, options: SendOptions = {}): Promise<R> {
    const expected = { name: String(argv[0]), fits }
    return this.#whenUp(() => this.#exchange(argv, options, expected)) as Promise<R>
  }

  /** One plain command to each of the nodes, and what came of it there. */
  everywhere<R>(argv: readonly Arg[], fits: Shape<R>, nodes: Nodes): Promise<PromiseSettledResult<R>[]> {
    const checked = (reply: Reply): R => {
      if (fits(reply, argv)) return reply
      throw badReply(this.address, String(argv[0]), reply)
    }
    return this.#whenUp(() => {
      const sent = outside(() => this.#driver.everywhere?.(argv, nodes)) ?? [this.#send(argv)]
      return Promise.allSettled(sent.map((reply) => this.#settling(reply).then(checked)))
    })
  }

  async subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    this.#subscribed.add(`${kind} ${name}`)
    this.#pulse ??= outside(() => this.#nextPulse())
    await this.#settling(outside(() => this.#driver.subscribe(name, kind)))
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    this.#subscribed.delete(`${kind} ${name}`)
    await this.#settling(outside(() => this.#driver.unsubscribe(name, kind)))
  }

  /** A connection on which nothing is sent does not notice that it is dead. */
  #nextPulse(): Timer | undefined {
    if (this.#driver.pulse === undefined || this.#closed) return undefined
    const beat = (): void => {
      const sent = this.#subscribed.size > 0 ? (this.#driver.pulse?.() ?? []) : []
      for (const reply of sent) this.#settling(reply).catch(() => undefined)
      this.#pulse = this.#subscribed.size > 0 ? this.#nextPulse() : undefined
    }
    return this.#options.clock.setTimer(beat, PULSE, { background: true })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#renewal.stop()
    this.#pulse?.cancel()
    this.#failPending((target) => new ClosedError(target))
    await this.#driver.close().catch(() => undefined)
    for (const wake of this.#upWaiters) wake()
  }

  get #canSend(): boolean {
    return this.#driver.isUp && !this.#closed
  }

  /** While the connection is away nothing is queued: the caller waits here, and may have given up when it is back. */
  #whenUp<T>(send: () => Promise<T>, target?: string, signal?: AbortSignal): Promise<T> {
    if (this.#canSend) return send()
    if (this.#closed) return Promise.reject(new ClosedError(target))
    return new Promise<T>((resolve, reject) => {
      const timer = this.#options.clock.setTimer(() => {
        this.#upWaiters = this.#upWaiters.filter((other) => other !== wake)
        reject(this.#offline(target))
      }, this.#options.commandTimeout)
      const wake = (): void => {
        timer.cancel()
        if (this.#closed) reject(new ClosedError(target))
        else if (signal?.aborted === true) reject(this.#offline(target))
        else send().then(resolve, reject)
      }
      this.#upWaiters.push(wake)
    })
  }

  /** Settles with the answer, or in time without. `script`: what to send in full, once, when the server does not know it. */
  #exchange(argv: readonly Arg[], options: SendOptions, expected: Expected, script?: Script): Promise<Reply> {
    return new Promise<Reply>((resolve, reject) => {
      const pending = this.#expect(reject, options.target)
      const answered = (reply: Reply): void => {
        this.#answer()
        this.#settle(pending)
        if (expected.fits(reply, argv)) resolve(reply)
        else reject(this.#outOfStep(badReply(this.address, expected.name, reply, options.target)))
      }
      const failed = (error: Error): void => {
        this.#settle(pending)
        reject(this.#translate(error, options.target))
      }
      const unknown = (error: Error): void => {
        // Whoever has given up meanwhile may have undone it already.
        const over = pending.settled || options.signal?.aborted === true
        if (script === undefined || over || !error.message.startsWith('NOSCRIPT')) failed(error)
        else this.#send(withText(argv, script), options).then(answered, failed)
      }
      this.#send(argv, options).then(answered, unknown)
    })
  }

  /** The connection to a node of a cluster is made when the first command goes there. */
  #send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    return this.#driver.cluster ? outside(() => this.#driver.send(argv, options)) : this.#driver.send(argv, options)
  }

  #settling<T>(sent: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending = this.#expect(reject)
      sent.then(
        (answer) => {
          this.#settle(pending)
          resolve(answer)
        },
        (error: unknown) => {
          this.#settle(pending)
          reject(this.#translate(error as Error))
        },
      )
    })
  }

  #answer(): void {
    this.#silent = false
    this.#answers++
  }

  #expect(reject: Pending['reject'], target?: string): Pending {
    const due = this.#options.clock.monotonic() + this.#options.commandTimeout
    const pending: Pending = { due, reject, target, settled: false }
    this.#pending.push(pending)
    this.#timer ??= this.#arm(this.#options.commandTimeout)
    return pending
  }

  #settle(pending: Pending): void {
    pending.settled = true
    const queue = this.#pending
    while (this.#oldest < queue.length && queue[this.#oldest]?.settled === true) this.#oldest++
    if (this.#oldest === queue.length) {
      queue.length = 0
      this.#oldest = 0
    } else if (this.#oldest > 1024) {
      queue.splice(0, this.#oldest)
      this.#oldest = 0
    }
  }

  #arm(ms: number): Timer {
    return limitAnswers(this.#options.clock, (then) => this.#expire(then), ms, { background: true })
  }

  /** What was due `then`. */
  #expire(then: number): void {
    this.#timer = undefined
    let overdue = false
    let next = this.#pending[this.#oldest]
    while (next !== undefined && (next.settled || next.due <= then)) {
      overdue ||= !next.settled
      if (!next.settled) this.#overdue(next)
      this.#settle(next)
      next = this.#pending[this.#oldest]
    }
    if (next !== undefined) this.#timer = this.#arm(next.due - this.#options.clock.monotonic())
    if (overdue) this.#sendProbe()
  }

  #overdue(pending: Pending): void {
    this.#renewal.suspect()
    this.#silent = true
    pending.reject(this.#noReply(`within ${this.#options.commandTimeout} ms`, pending.target))
  }

  /**
   * Where an answer was lost on its way, the next one was taken for it, and the last command has none. What comes for that one
   * now is of another kind, and so gives it away.
   */
  #sendProbe(): void {
    if (this.#probing || !this.#canSend || this.#driver.cluster) return
    this.#probing = true
    const { clock, commandTimeout } = this.#options
    const words = `holdfast ${clock.random()}`
    const before = this.#answers
    // Bytes may come, and never a whole answer.
    const wedged = (): void => {
      if (this.#answers === before && this.#canSend) this.#outOfStep(this.#noReply('that can be read'))
    }
    const timer = limitAnswers(clock, wedged, Math.max(commandTimeout, LONG_SILENCE), { background: true })
    const over = (): void => {
      this.#probing = false
      timer.cancel()
    }
    this.#send(['PING', words]).then((reply) => {
      over()
      this.#answer()
      if (reply !== words) this.#outOfStep(badReply(this.address, 'PING', reply))
    }, over)
  }

  /**
   * Where one answer was lost or doubled on its way, each that follows is another question's. Nothing that was asked is
   * believed; a connection of ours is replaced, and on a caller's all holds are asked about.
   */
  #outOfStep(error: EngineError): EngineError {
    if (this.#driver.lent === true) this.#listener.moved()
    else if (this.#driver.renew !== undefined) {
      this.#failPending((target) => this.#noReply('that is surely its own', target))
      this.#renewal.outOfStep(error)
    }
    return error
  }

  #failPending(errorOf: (target: string | undefined) => Error): void {
    const failed = this.#pending.slice(this.#oldest).filter((pending) => !pending.settled)
    this.#pending = []
    this.#oldest = 0
    this.#timer?.cancel()
    this.#timer = undefined
    for (const pending of failed) {
      pending.settled = true
      pending.reject(errorOf(pending.target))
    }
  }

  #translate(error: Error, target?: string): Error {
    if (error instanceof NoReply) return this.#noReply(`(${error.message})`, target)
    if (error instanceof NotSent) return this.#closed ? new ClosedError(target) : this.#offline(target)
    if (error instanceof HoldfastError) return error
    const answer = serverError(error.message, target)
    if (answer.code === 'READONLY' || answer.code === 'MASTERDOWN') this.#renewal.misled(answer)
    return answer
  }

  #noReply(how: string, target?: string): EngineError {
    return new EngineError('NO_REPLY', `no reply from ${this.address} ${how}`, { target })
  }

  #offline(target?: string): EngineError {
    return new EngineError('OFFLINE', `not connected to ${this.address}`, { target })
  }
}

const withText = ([command, , ...rest]: readonly Arg[], script: Script): Arg[] => [
  command === 'EVALSHA_RO' ? 'EVAL_RO' : 'EVAL',
  script.text,
  ...rest,
]
