import { abortOf } from '../base/abort.js'
import { outside } from '../base/scope.js'
import { ClosedError, ConfigError, EngineError, withoutSecrets } from '../errors.js'
import type { Script } from '../lua/script.js'
import type { Shape } from '../lua/reply-shape.js'
import type { Arg } from '../lua/values.js'
import { connectError } from './why-connect-failed.js'
import { type ConnectLimits, withinLimits } from './connect-limits.js'
import { ConnectionReplacement } from './when-to-replace-connection.js'
import type { Driver, DriverEvents, Message, Nodes, SendOptions, SubscriptionKind } from './driver.js'
import { Exchanges } from './exchanges.js'
import { FirstPing } from './first-ping.js'
import { noReply, offline } from './link-errors.js'
import { MessagePulse } from './message-pulse.js'
import type { TimeoutOptions } from './reply-timeouts.js'
import { ScriptAndWait } from './script-and-wait.js'
import { bySha } from './evalsha.js'
import { UntilConnected } from './until-connected.js'
import type { WaitFor } from './wait-commands.js'
import { errorOf } from '../thrown.js'

/** The events of the connection, in the order in which they happened. */
export interface LinkListener {
  message(message: Message): void
  /** Commands can be sent again. */
  reconnected(): void
  /** Other nodes may have the keys. */
  moved(): void
  /** Messages may have been missed. */
  gap(): void
  /** The messages of one channel no longer arrive. */
  unheard(kind: SubscriptionKind, name: string): void
  error(error: Error): void
}

export interface LinkOptions extends TimeoutOptions {
  readonly connectTimeout: number
}

/** A busy server may take this long for a reply without counting as away, ms. */
const BUSY = 1000

const BY_DEFAULT: SendOptions = {}

/**
 * A client's connection to its server, the same over every driver. It opens and closes once, sends only while connected, and reports the result
 * of each command.
 */
export class Link {
  readonly #driver: Driver
  readonly #options: LinkOptions
  readonly #listener: LinkListener
  readonly #exchanges: Exchanges
  readonly #scriptAndWait: ScriptAndWait
  readonly #untilConnected: UntilConnected
  readonly #replacement: ConnectionReplacement
  readonly #greeting: FirstPing
  readonly #pulse: MessagePulse
  /** The trouble that was reported last, since the connection was up. */
  #trouble: string | undefined
  /** The connection has been up before. */
  known = false
  /** When the connection came up or went down last, ms since the epoch. */
  since: number

  constructor(driver: Driver, options: LinkOptions, listener: LinkListener) {
    this.#driver = driver
    this.#options = options
    this.#listener = listener
    this.#replacement = new ConnectionReplacement(driver, options, listener)
    this.#exchanges = new Exchanges(driver, options, this.#replacement)
    this.#scriptAndWait = new ScriptAndWait(driver, this.#exchanges)
    this.#untilConnected = new UntilConnected(driver.address, options)
    this.#greeting = new FirstPing(driver)
    this.#pulse = new MessagePulse(driver, options.clock, (pong) => this.#exchanges.inTime(pong))
    this.since = options.clock.now()
  }

  get address(): string {
    return this.#driver.address
  }

  get cluster(): boolean {
    return this.#driver.cluster
  }

  /** The masters, as `node` of a command names them. One server needs no name. */
  get masters(): readonly (string | undefined)[] {
    const masters = this.#driver.masters?.() ?? []
    return masters.length === 0 ? [undefined] : masters
  }

  /** In a cluster: the master that has this key, as far as is known. */
  nodeOf(key: string): string | undefined {
    return this.cluster ? this.#driver.nodeOf?.(key) : undefined
  }

  get isUp(): boolean {
    return this.#driver.isUp
  }

  /** How long the oldest command without a reply has been waiting, ms. */
  get silence(): number {
    return this.#exchanges.replies.silence
  }

  /** An error if the server cannot be reached, or is silent for longer than a busy server would be. */
  away(target: string): EngineError | undefined {
    const { replies } = this.#exchanges
    if (!this.#driver.isUp) return offline(this.address, target)
    return replies.silent ? replies.late(target) : this.unanswered(BUSY, target)
  }

  /** An error if some command has waited this many ms for its reply. */
  unanswered(ms: number, target: string): EngineError | undefined {
    const { silence } = this
    return silence > 0 && silence >= ms ? noReply(this.address, `for ${Math.round(silence)} ms`, target) : undefined
  }

  /** Throws at once for a call that cannot wait, if the server is known to be away. */
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
      error: ({ message }) => this.#tell(withoutSecrets(message)),
    }
  }

  /** Reports each trouble once, however often a driver that is not connected meets it. */
  #tell(text: string): void {
    const isKnown = text === this.#trouble && !this.#driver.isUp
    this.#trouble = text
    if (!isKnown) this.#listener.error(new EngineError('OFFLINE', `${this.address}: ${text}`))
  }

  #up(): void {
    this.#trouble = undefined
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
   * Runs a script by its SHA, and once more with its text if the server does not know it. With `wait`, a WAIT follows on the same connection.
   * The second result is the number of replicas, or the error of the WAIT; it may come later. A WAIT covers everything sent before it, so
   * scripts sent during a WAIT share the next one.
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

  /** Sends one plain command. */
  command<R>(argv: readonly Arg[], fits: Shape<R>, options: SendOptions = {}): Promise<R> {
    const expected = { name: String(argv[0]), fits }
    return this.#whenUp(() => this.#exchanges.exchange(argv, options, expected)) as Promise<R>
  }

  /** Sends one plain command to each of the nodes, and returns the result of each. */
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
