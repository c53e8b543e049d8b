import type { ListOptions } from '../../api/listing.js'
import type { Runtime } from '../../core/client/runtime.js'
import { isTransient } from '../../core/server/transient-or-unsure-errors.js'
import { isAway } from '../../away-or-refusing.js'
import { EngineError } from '../../errors.js'

/** Errors of a single key: another program's, or one that no client could use in a cluster. */
const LEFT_OUT: ReadonlySet<string> = new Set(['WRONG_KIND', 'WRONGTYPE', 'CROSSSLOT'])
/** A user may not read this key. If it may not use a command, nothing could be listed, and it must be told. */
const KEY_REFUSED = /\baccess\b.*\bkeys?\b/

export const isLeftOut = (error: unknown): error is EngineError =>
  error instanceof EngineError &&
  (LEFT_OUT.has(error.code) || (error.code === 'NOPERM' && KEY_REFUSED.test(error.message)))

/** In a cluster, one node may be away, and those of other keys answer. */
export const isPartAway = ({ link }: Runtime, error: unknown): error is EngineError =>
  link.cluster && isTransient(error)

/** Another program's key is no lock, so nothing is missing. */
const isMissing = ({ code }: EngineError, transient: boolean): boolean => transient || code === 'NOPERM'

/** What a list leaves out because it cannot be read. A master that did not answer is not asked again: each question would take a command time-out. */
export class SkippedLocks {
  readonly #runtime: Runtime
  readonly #onSkipped: ListOptions['onSkipped']
  /** By master. */
  readonly #silent = new Map<string, EngineError>()
  #first: EngineError | undefined
  #firstNamed: EngineError | undefined

  constructor(runtime: Runtime, onSkipped?: ListOptions['onSkipped']) {
    this.#runtime = runtime
    this.#onSkipped = onSkipped
  }

  /** The error of the first one that may pass; else of the first. */
  get first(): EngineError | undefined {
    return this.#first
  }

  /** The error of the first whose name is known. */
  get firstNamed(): EngineError | undefined {
    return this.#firstNamed
  }

  /** The error of the master that has this key, if it did not answer. */
  silentAt(key: string): EngineError | undefined {
    return this.#silent.get(this.#runtime.link.nodeOf(key) ?? '')
  }

  /** `name`: that of the lock, if it is known. */
  add(key: string, error: EngineError, name?: string): void {
    const transient = isTransient(error)
    if (!isMissing(error, transient)) return
    this.noteSilence(key, error)
    this.#skip({ name, error })
  }

  /** The error says whether the master of this key is away. */
  noteSilence(key: string, error: EngineError): void {
    const node = this.#runtime.link.nodeOf(key)
    // Other trouble concerns one slot or key.
    if (isAway(error) && node !== undefined) this.#silent.set(node, error)
  }

  /** All locks of a master that is away. */
  addMaster(error: EngineError): void {
    this.#skip({ error })
  }

  #skip({ name, error }: { readonly name?: string | undefined; readonly error: EngineError }): void {
    // Of several, one that may pass: it says that nobody knows whether there are locks.
    if (this.#first === undefined || (!isTransient(this.#first) && isTransient(error))) this.#first = error
    if (name !== undefined) this.#firstNamed ??= error
    this.#onSkipped?.({ name, error })
  }
}
