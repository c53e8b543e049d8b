import type { Client } from '../../api/client.js'
import {
  checkAmount,
  checkFlag,
  checkFunction,
  checkLease,
  checkName,
  checkOptions,
  show,
} from '../../check-arguments.js'

/** Options of `expressIdempotency`, `fastifyIdempotency` and `honoIdempotency`. */
export interface IdempotencyOptions<R> {
  /** The client whose server keeps the keys and the answers. */
  readonly client: Pick<Client, 'flight'>
  /**
   * Whose request it is: the id of the user or of the tenant, after you authenticated it. The same key of two scopes is two keys, so that nobody gets the answer to
   * another user's request. If all callers may share their keys, return the same text for all.
   */
  readonly scope: (request: R) => string | Promise<string>
  /** Keys with different names are different keys. It begins the names of the keys on the server. Default `idempotency`. */
  readonly name?: string | undefined
  /** `true` refuses a request without a key with 400. Default `false`: it goes on, unprotected. */
  readonly required?: boolean | undefined
  /** The methods that are protected. Default `POST` and `PATCH`: all others go on. */
  readonly methods?: readonly string[] | undefined
  /**
   * What two requests with one key must have in common, besides their method and path. Default: the whole body. Pass it for bodies that have no parser, such as
   * uploads.
   */
  readonly fingerprint?: ((request: R) => string | Promise<string>) | undefined
  /** How long an answer is kept, ms. Default: 24 hours. */
  readonly ttl?: number | undefined
  /** If the process dies, a retry runs the handler again after this many ms. The lease is renewed while the handler runs. Default: the client's `watchdog`. */
  readonly lease?: number | undefined
  /** How long a key stays claimed at most if its handler never answers, ms. Default: 10 minutes. */
  readonly maxRun?: number | undefined
  /** The largest answer that is kept, in bytes, with its header fields; 15 MiB at most. Default: 1 MiB. */
  readonly maxBytes?: number | undefined
  /**
   * If the server cannot be asked: `closed` refuses every request with 503, `open` runs the handler unprotected. If the server refuses for good, for example because
   * of a missing permission, requests get 503 with either. Default `closed`.
   */
  readonly whenAway?: 'open' | 'closed' | undefined
  /**
   * How long a request waits for the server, before its handler and after it, ms. The promises of `scope` and `fingerprint` have as long, each. Default 1000.
   */
  readonly timeout?: number | undefined
  /**
   * Receives the error if the server cannot be asked, or refuses: trouble of each kind once a minute. Default: a warning of the process.
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The options with their defaults. */
export interface Settings<R> {
  readonly client: Pick<Client, 'flight'>
  readonly scope: (request: R) => unknown
  readonly fingerprint: ((request: R) => unknown) | undefined
  readonly name: string
  readonly required: boolean
  readonly methods: ReadonlySet<string>
  readonly ttl: number
  readonly lease: number | undefined
  readonly maxRun: number
  readonly maxBytes: number
  readonly isOpen: boolean
  readonly timeout: number
  readonly onError: ((error: unknown) => void) | undefined
}

const KNOWN = [
  ...['client', 'scope', 'name', 'required', 'methods', 'fingerprint', 'ttl'],
  ...['lease', 'maxRun', 'maxBytes', 'whenAway', 'timeout', 'onError'],
]

const METHODS = ['POST', 'PATCH', 'PUT', 'DELETE']
const DAY = 86_400_000
const TEN_MINUTES = 600_000
const MIB = 1_048_576
/** As base64, and with its record, it still fits into a value of a flight. */
const LARGEST = 15 * MIB

const checkMethodList = (methods: unknown): ReadonlySet<string> => {
  if (!Array.isArray(methods)) throw new TypeError(`methods must be an array, not ${show(methods)}`)
  const list: unknown[] = [...(methods as unknown[])]
  const unknown = list.find((method) => !(METHODS as unknown[]).includes(method))
  if (list.length === 0 || unknown !== undefined)
    throw new TypeError(`methods must be some of ${METHODS.join(', ')}, not ${show(unknown ?? '')}`)
  return new Set(list as string[])
}

export const checkSettings = <R>(options: IdempotencyOptions<R>): Settings<R> => {
  const read = checkOptions(options, KNOWN) as IdempotencyOptions<R>
  const { client, scope, name = 'idempotency', required = false, fingerprint, lease } = read
  const { ttl = DAY, maxRun = TEN_MINUTES, maxBytes = MIB, whenAway = 'closed', timeout = 1000, onError } = read
  checkFunction((client as Partial<Client> | undefined)?.flight, 'client.flight')
  checkFunction(scope, 'scope')
  if (onError !== undefined) checkFunction(onError, 'onError')
  if (fingerprint !== undefined) checkFunction(fingerprint, 'fingerprint')
  checkName(name)
  checkFlag(required, 'required')
  for (const [value, what] of Object.entries({ ttl, maxRun, timeout }).map(([what, value]) => [value, what] as const))
    checkLease(value, what)
  if (lease !== undefined) checkLease(lease)
  checkAmount(maxBytes, 'maxBytes', 1, LARGEST)
  if (!(['open', 'closed'] as unknown[]).includes(whenAway))
    throw new TypeError(`whenAway must be 'open' or 'closed', not ${show(whenAway)}`)
  const methods = checkMethodList(read.methods ?? ['POST', 'PATCH'])
  const isOpen = whenAway === 'open'
  return { client, scope, fingerprint, name, required, methods, ttl, lease, maxRun, maxBytes, isOpen, timeout, onError }
}
