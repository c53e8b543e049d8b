import { abortOf } from '../base/abort.js'
import { outside } from '../base/scope.js'
import { ClosedError, ConfigError, EngineError, withoutSecrets } from '../errors.js'
import type { Script } from '../lua/script.js'
import type { Shape } from '../lua/shape.js'
import type { Arg } from '../lua/values.js'
import { connectError } from './connect-errors.js'
import { type ConnectLimits, withinLimits } from './connect-limits.js'
import { ConnectionReplacement } from './connection-replacement.js'
import type { Driver, DriverEvents, Message, Nodes, SendOptions, SubscriptionKind } from './driver.js'
import { Exchanges } from './exchanges.js'
import { Greeting } from './greeting.js'
import { noReply, offline } from './link-errors.js'
import { MessagePulse } from './message-pulse.js'
import type { TimeoutOptions } from './reply-timeouts.js'
import { ScriptAndWait } from './script-and-wait.js'
import { bySha } from './evalsha.js'
import { UntilConnected } from './until-connected.js'
import type { WaitFor } from './wait-commands.js'
import { errorOf } from '../thrown.js'

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

export interface LinkOptions extends TimeoutOptions {
  readonly connectTimeout: number
}

/** A server may take so long for a reply without being away, ms. */
const BUSY = 1000

const BY_DEFAULT: SendOptions = {}

/** One client's way to its server, the same over every driver: opens and closes once, sends only while connected, and says what became of it. */
export class Link {
  readonly #driver: Driver
  readonly #options: LinkOptions
  readonly #listener: LinkListener
  readonly #exchanges: Exchanges
  readonly #scriptAndWait: ScriptAndWait
  readonly #untilConnected: UntilConnected
  readonly #replacement: ConnectionReplacement
  readonly #greeting: Greeting
  readonly #pulse: MessagePulse
  /** It has been up. */
  known = false
  /** Since when it is up, or is not; ms since the epoch. */
  since: number

  constructor(driver: Driver, options: LinkOptions, listener: LinkListener) {
    this.#driver = driver
    this.#options = options
    this.#listener = listener
    this.#replacement = new ConnectionReplacement(driver, options, listener)
    this.#exchanges = new Exchanges(driver, options, this.#replacement)
    this.#scriptAndWait = new ScriptAndWait(driver, this.#exchanges)
    this.#untilConnected = new UntilConnected(driver.address, options)
    this.#greeting = new Greeting(driver)
    this.#pulse = new MessagePulse(driver, options.clock, (pong) => this.#exchanges.inTime(pong))
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

  /** For how long the oldest command without a reply has waited for it, ms. */
  get silence(): number {
    return this.#exchanges.replies.silence
  }

  /** The server cannot be reached, or is silent for longer than one that is busy. */
  away(target: string): EngineError | undefined {
    const { replies } = this.#exchanges
    if (!this.#driver.isUp) return offline(this.address, target)
    return replies.silent ? replies.late(target) : this.unanswered(BUSY, target)
  }

  /** Some command has waited for its reply for so many ms. */
  unanswered(ms: number, target: string): EngineError | undefined {
    const { silence } = this
    return silence > 0 && silence >= ms ? noReply(this.address, `for ${Math.round(silence)} ms`, target) : undefined
  }

  /** Who cannot wait is not kept waiting for a server that is known to be away. */
  checkUp(target: string): void {
    if (!this.#driver.isUp && !this.#exchanges.closed) throw offline(this.address, target)
  }

  async open(limits: ConnectLimits = { limit: this.#options.connectTimeout }): Promise<void> {
    try {
      const greeted = this.#driver.open(this.#events()).then(() => this.#greeting.send())
      await withinLimits(this.#options.clock, limits, greeted)
      this.known = true
    } catch (thrown) {
      const error = errorOf(thrown)
      const { signal } = limits
      const why = abortOf(signal) === undefined ? await this.#driver.explain?.(error) : undefined
      void this.close()
      const aborted = abortOf(signal)
      if (aborted !== undefined) throw aborted.error
      if (error instanceof ConfigError) throw error
      throw connectError(this.address, why === undefined ? error : new Error(why))
    }
  }

  #events(): DriverEvents {
    const listener = this.#listener
    return {
      message: (message) => listener.message(message),
      up: (again) => {
        this.#up()
        if (again) listener.reconnected()
      },
      down: (reason) => this.#down(reason),
      moved: () => listener.moved(),
      outOfStep: ({ message }) => {
        this.#exchanges.outOfStep(new EngineError('BAD_REPLY', `${this.address}: ${withoutSecrets(message)}`))
      },
      gap: () => listener.gap(),
      unheard: (kind, name) => listener.unheard(kind, name),
      error: (error) => {
        listener.error(new EngineError('OFFLINE', `${this.address}: ${withoutSecrets(error.message)}`))
      },
    }
  }

  #up(): void {
    this.#replacement.connected()
    this.since = this.#options.clock.now()
    this.known = true
    this.#untilConnected.connected()
  }

  #down(reason: Error): void {
    this.#replacement.disconnected()
    this.since = this.#options.clock.now()
    this.#greeting.cut(reason)
    this.#exchanges.cut(reason)
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
    const call = bySha(script, keys, args, options?.readOnly)
    const wait = options?.wait
    if (wait !== undefined)
      return this.#whenUp(() => this.#scriptAndWait.run(call, script, sending, wait), sending.target)
    if (this.#canSend) return this.#exchanges.exchange(call, sending, script, script)
    return this.#whenUp(() => this.#exchanges.exchange(call, sending, script, script), sending.target, sending.signal)
  }

  /** One plain command. */
  command<R>(argv: readonly Arg[], fits: Shape<R>, options: SendOptions = {}): Promise<R> {
    const expected = { name: String(argv[0]), fits }
    return this.#whenUp(() => this.#exchanges.exchange(argv, options, expected)) as Promise<R>
  }

  /** One plain command to each of the nodes, and what came of it there. */
  everywhere<R>(argv: readonly Arg[], fits: Shape<R>, nodes: Nodes): Promise<PromiseSettledResult<R>[]> {
    return this.#whenUp(() => this.#exchanges.everywhere(argv, fits, nodes))
  }

  async subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    this.#pulse.subscribed(`${kind} ${name}`)
    await this.#exchanges.inTime(outside(() => this.#driver.subscribe(name, kind)))
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    this.#pulse.unsubscribed(`${kind} ${name}`)
    await this.#exchanges.inTime(outside(() => this.#driver.unsubscribe(name, kind)))
  }

  async close(): Promise<void> {
    if (this.#exchanges.closed) return
    this.#replacement.stop()
    this.#pulse.stop()
    this.#exchanges.close()
    this.#untilConnected.close()
    await this.#driver.close().catch(() => undefined)
  }

  get #canSend(): boolean {
    return this.#driver.isUp && !this.#exchanges.closed
  }

  #whenUp<T>(send: () => Promise<T>, target?: string, signal?: AbortSignal): Promise<T> {
    if (this.#canSend) return send()
    if (this.#exchanges.closed) return Promise.reject(new ClosedError(target))
    return this.#untilConnected.send(send, target, signal)
  }
}
