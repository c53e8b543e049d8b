import { show } from '../../check-arguments.js'
import { ClosedError, EngineError, ReplicationError } from '../../errors.js'
import { quoted } from '../../plain-text.js'
import { isA } from '../../thrown.js'
import { refusesForGood } from '../../away-or-refusing.js'
import { AwayDetector } from '../away-detector.js'
import { troubleReport } from '../report-trouble.js'
import { asError, given } from '../user-functions.js'
import { type Answer, answers } from './stored-answer-format.js'
import { type Claim, claim } from './claim-key.js'
import { hashOf, keyIn } from './key-field.js'
import { checkSettings, type IdempotencyOptions, type Settings } from './idempotency-options.js'
import { REPLIES, replayOf } from './middleware-answers.js'
import { type IdempotencyRun, HandlerRun } from './handler-run.js'
import { NestedTooDeeply } from './request-body.js'

/** How to read a request of one framework. */
export interface Reader<R> {
  method(request: R): string
  /** The header field `Idempotency-Key`. */
  field(request: R): string | undefined
  /** The path with its query. */
  path(request: R): string
  body(request: R): string | Uint8Array | Promise<string | Uint8Array>
}

/** What to do with a request: it goes on, it is answered, or its handler runs and is recorded. */
export type Verdict =
  | { readonly do: 'go on' }
  | { readonly do: 'answer'; readonly answer: Answer }
  | { readonly do: 'run'; readonly run: HandlerRun; readonly known: IdempotencyRun }

/** This process ends, or the server refuses for good. An outage is neither. */
const REFUSED = Symbol('refused')
const GO_ON: Verdict = { do: 'go on' }
const answerWith = (answer: Answer): Verdict => ({ do: 'answer', answer })

/** Calls a function of the user. */
const textOf = async <R>(call: (request: R) => unknown, request: R, who: string, ms: number): Promise<string> => {
  try {
    const text = await given(call(request), who, ms)
    if (typeof text === 'string' && text !== '') return text
    throw new TypeError(`${who} must give text that is not empty for each request, not ${show(text)}`)
  } catch (thrown) {
    throw asError(thrown, who)
  }
}

/** Decides about requests, for any framework. */
export class JudgeRequest<R> {
  readonly #settings: Settings<R>
  readonly #reader: Reader<R>
  readonly #guard: AwayDetector
  readonly #report: (error: EngineError) => void

  constructor(options: IdempotencyOptions<R>, reader: Reader<R>) {
    this.#settings = checkSettings(options)
    this.#reader = reader
    const { name, isOpen, timeout, onError } = this.#settings
    const effect = (error: EngineError): string =>
      isOpen && !refusesForGood(error) ? 'requests run unprotected' : 'requests with a key are refused with 503'
    this.#report = troubleReport({ who: `idempotency ${quoted(name)}`, effect, onError })
    this.#guard = new AwayDetector(timeout, this.#report)
  }

  async judge(request: R): Promise<Verdict> {
    const { methods, required, name, isOpen } = this.#settings
    if (!methods.has(this.#reader.method(request))) return GO_ON
    const field = this.#reader.field(request)
    if (field === undefined) return required ? answerWith(REPLIES.missing) : GO_ON
    const key = keyIn(field)
    if (key === undefined) return answerWith(REPLIES.malformed)
    const scope = await this.#textOf(this.#settings.scope, request, 'scope()')
    const fingerprint = await this.#fingerprint(request)
    if (fingerprint === undefined) return answerWith(REPLIES.tooDeep)
    const claimed = await this.#claim(hashOf(scope, key)).catch((thrown: unknown): typeof REFUSED => {
      if (thrown instanceof ClosedError) return REFUSED
      throw asError(thrown, `idempotency ${quoted(name)}: client`)
    })
    if (claimed === REFUSED || (claimed === undefined && !isOpen)) return answerWith(REPLIES.away)
    if (claimed === undefined) return GO_ON
    return this.#verdict(claimed, key, fingerprint)
  }

  #verdict(claimed: Claim, key: string, fingerprint: string): Verdict {
    if (claimed.state === 'running') return answerWith(REPLIES.running)
    if (claimed.state === 'kept') {
      const { kept } = claimed
      if (kept.fingerprint !== fingerprint) return answerWith(REPLIES.differs)
      return answerWith(kept.answer === undefined ? REPLIES.notKept : replayOf(kept.answer))
    }
    const { maxBytes, maxRun, timeout } = this.#settings
    const run = new HandlerRun(claimed, { fingerprint, maxBytes, maxRun, timeout })
    return { do: 'run', run, known: { key, token: claimed.token, signal: run.signal } }
  }

  /** Undefined: the server cannot be asked. */
  #claim(key: string): Promise<Claim | typeof REFUSED | undefined> {
    const { client, name, ttl, lease } = this.#settings
    return this.#guard.ask(async (signal) => {
      try {
        // In a cluster, the keys of one flight are on one node: sixteen spread the load.
        const flight = client.flight(`${name}:${key.slice(0, 1)}`, { codec: answers })
        return await claim(flight, key, { ttl, lease, signal })
      } catch (error) {
        if (isA(error, ReplicationError)) throw new EngineError('NOREPLICAS', error.message, { cause: error })
        if (!refusesForGood(error)) throw error
        this.#report(error as EngineError)
        return REFUSED
      }
    })
  }

  /** Undefined: two such bodies cannot be compared. */
  async #fingerprint(request: R): Promise<string | undefined> {
    const { fingerprint } = this.#settings
    const reader = this.#reader
    if (fingerprint !== undefined) return this.#hash(request, await this.#textOf(fingerprint, request, 'fingerprint()'))
    try {
      return this.#hash(request, await reader.body(request))
    } catch (error) {
      if (error instanceof NestedTooDeeply) return undefined
      throw error
    }
  }

  #hash(request: R, content: string | Uint8Array): string {
    return hashOf(this.#reader.method(request), this.#reader.path(request), content)
  }

  #textOf(call: (request: R) => unknown, request: R, what: string): Promise<string> {
    return textOf(call, request, `idempotency ${quoted(this.#settings.name)}: ${what}`, this.#settings.timeout)
  }
}
