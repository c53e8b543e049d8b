import type { Clock } from '../../base/clock.js'
import { noScript } from './error-texts.js'
import { sha1 } from './lua/sha1.js'
import { ScriptRuntime } from './lua/runtime.js'
import { isReadOnly } from './lua/shebang.js'
import { type Bytes, type Reply, ReplyError, type ScriptHost } from './reply.js'

/** Caches scripts by SHA, and runs them. */
export class ScriptCache {
  readonly #host: ScriptHost
  readonly #texts = new Map<string, Bytes>()
  readonly #shas = new Map<Bytes, string>()
  readonly #clock: Clock
  #started: ScriptRuntime | undefined
  /** The running script may not write. */
  readOnly = false

  constructor(host: ScriptHost, clock: Clock) {
    this.#host = host
    this.#clock = clock
  }

  get size(): number {
    return this.#texts.size
  }

  /** Returns its SHA, or an error: a script that does not compile is not cached. */
  load(text: Bytes): string | ReplyError {
    const known = this.#shas.get(text)
    if (known !== undefined) return known
    const error = this.#runtime().check(text)
    if (error !== undefined) return error
    const sha = sha1(text)
    this.#shas.set(text, sha)
    this.#texts.set(sha, text)
    return sha
  }

  has(sha: string): boolean {
    return this.#texts.has(sha)
  }

  flush(): void {
    this.#texts.clear()
    this.#shas.clear()
    this.#started = undefined
  }

  eval(text: Bytes, keys: readonly Bytes[], argv: readonly Bytes[], readOnly: boolean): Reply {
    const sha = this.load(text)
    return sha instanceof ReplyError ? sha : this.#run(text, sha, { keys, argv, readOnly })
  }

  evalSha(sha: Bytes, keys: readonly Bytes[], argv: readonly Bytes[], readOnly: boolean): Reply {
    const text = this.#texts.get(sha) ?? this.#texts.get(sha.toLowerCase())
    if (text === undefined) return noScript()
    return this.#run(text, sha, { keys, argv, readOnly })
  }

  #runtime(): ScriptRuntime {
    return (this.#started ??= new ScriptRuntime(this.#host, this.#clock))
  }

  #run(text: Bytes, sha: string, { keys, argv, readOnly }: Input): Reply {
    const flagged = isReadOnly(text)
    if (readOnly && flagged === false)
      return new ReplyError('ERR Can not execute a script with write flag using *_ro command.')
    this.readOnly = readOnly || flagged === true
    try {
      return this.#runtime().run(text, sha, keys, argv)
    } finally {
      this.readOnly = false
    }
  }
}

interface Input {
  readonly keys: readonly Bytes[]
  readonly argv: readonly Bytes[]
  readonly readOnly: boolean
}
