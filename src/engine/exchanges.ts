import { abortOf } from '../base/abort.js'
import { outside } from '../base/scope.js'
import { ClosedError, EngineError, HoldfastError, serverError } from '../errors.js'
import type { Script } from '../lua/script.js'
import { type Shape, text } from '../lua/reply-shape.js'
import type { Arg, Reply } from '../lua/values.js'
import type { ConnectionReplacement } from './when-to-replace-connection.js'
import { type Driver, type Nodes, NoReply, NotSent, type SendOptions } from './driver.js'
import { badReply, noReply, offline } from './link-errors.js'
import { keysOf, NameKeys } from './name-keys.js'
import { RepliesOutOfStep } from './replies-out-of-step.js'
import { ReplyTimeouts, type TimeoutOptions } from './reply-timeouts.js'
import { isNotCached, withText } from './evalsha.js'
import { errorOf } from '../thrown.js'

/** A command's name for error messages, and the expected form of its reply. */
export interface Expected {
  readonly name: string
  readonly fits: Shape<unknown>
}

const TYPE: Expected = { name: 'TYPE', fits: text }

/**
 * Sends a command and returns its reply: in time and of the declared form, or as an error with a code. Nothing is sent twice,
 * except a script that the server says it does not know.
 */
export class Exchanges {
  readonly #driver: Driver
  readonly #replacement: ConnectionReplacement
  readonly #outOfStep: RepliesOutOfStep
  readonly #names = new NameKeys()
  readonly replies: ReplyTimeouts
  closed = false

  constructor(driver: Driver, options: TimeoutOptions, replacement: ConnectionReplacement) {
    this.#driver = driver
    this.#replacement = replacement
    this.replies = new ReplyTimeouts(driver.address, options, () => {
      replacement.suspect()
      this.#outOfStep.probe()
    })
    this.#outOfStep = new RepliesOutOfStep(driver, options, this.replies, replacement)
  }

  /** It is no longer known which reply belongs to which command. */
  outOfStep(error: EngineError): void {
    this.#outOfStep.found(error)
  }

  /**
   * Settles with the reply, or with an error when the time is over. `script`: sent with its text, once, if the server does not know
   * it.
   */
  exchange(argv: readonly Arg[], options: SendOptions, expected: Expected, script?: Script): Promise<Reply> {
    return new Promise<Reply>((resolve, reject) => {
      const pending = this.replies.expect(reject, options.target)
      const answered = (reply: Reply): void => {
        this.replies.answered()
        this.replies.settle(pending)
        if (expected.fits(reply, argv)) resolve(reply)
        else reject(this.#outOfStep.found(badReply(this.#driver.address, expected.name, reply, options.target)))
      }
      const failed = (error: Error): void => {
        const isLate = pending.settled
        this.replies.settle(pending)
        const answer = this.#translated(error, options.target)
        if (!isLate && answer instanceof EngineError && answer.code === 'WRONG_KIND')
          void this.#namingKeys(answer, argv, options).then(reject)
        else reject(answer)
      }
      const unknown = (error: Error): void => {
        // A caller that has given up meanwhile may have undone the step already.
        const over = pending.settled || abortOf(options.signal) !== undefined
        if (script === undefined || over || !isNotCached(error)) failed(error)
        else this.#send(withText(argv, script), options).then(answered, failed)
      }
      this.#send(argv, options).then(answered, unknown)
    })
  }

  #namingKeys(error: EngineError, argv: readonly Arg[], { route, node }: SendOptions): Promise<EngineError> {
    const typeOf = async (key: string): Promise<string> =>
      String(await this.exchange(['TYPE', key], node === undefined ? { route: key } : { node }, TYPE))
    return this.#names.of(error, keysOf(argv, route), typeOf)
  }

  /** Sends one command to each of the nodes, and returns the result of each. */
  everywhere<R>(argv: readonly Arg[], fits: Shape<R>, nodes: Nodes): Promise<PromiseSettledResult<R>[]> {
    const checked = (reply: Reply): R => {
      if (fits(reply, argv)) return reply
      throw badReply(this.#driver.address, String(argv[0]), reply)
    }
    const sent = outside(() => this.#driver.everywhere?.(argv, nodes)) ?? [this.#send(argv)]
    return Promise.allSettled(sent.map((reply) => this.inTime(reply).then(checked)))
  }

  /** For requests that the driver sent itself: settles in time, with an error that has a code. */
  inTime<T>(sent: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending = this.replies.expect(reject)
      sent.then(
        (answer) => {
          this.replies.settle(pending)
          resolve(answer)
        },
        (error: unknown) => {
          this.replies.settle(pending)
          reject(this.#translated(errorOf(error)))
        },
      )
    })
  }

  /** The connection was cut, so commands under way will not be answered. */
  cut(reason: Error): void {
    this.replies.failAll((target) => this.#lost(reason, target))
  }

  /** Rejects the commands under way. */
  close(): void {
    this.closed = true
    this.#outOfStep.stop()
    this.replies.failAll((target) => new ClosedError(target))
  }

  /** The connection to a node of a cluster is made when the first command goes there. */
  #send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    return this.#driver.cluster ? outside(() => this.#driver.send(argv, options)) : this.#driver.send(argv, options)
  }

  #lost({ message }: Error, target?: string): Error {
    return noReply(this.#driver.address, `(${message})`, target)
  }

  #translated(error: Error, target?: string): Error {
    if (error instanceof NoReply) return this.#lost(error, target)
    if (error instanceof NotSent) return this.closed ? new ClosedError(target) : offline(this.#driver.address, target)
    if (error instanceof HoldfastError) return error
    const answer = serverError(error.message, target)
    if (answer.code === 'READONLY' || answer.code === 'MASTERDOWN') this.#replacement.refused(answer)
    return answer
  }
}
