import { noScript } from './errors.js'
import { sha1 } from './lua/sha1.js'
import { ScriptRuntime } from './lua/runtime.js'
import { type Bytes, type Reply, ReplyError, type ScriptHost } from './reply.js'

/** The script cache, and the running of what is in it. */
export class Scripts {
  readonly #host: ScriptHost
  readonly #texts = new Map<string, Bytes>()
  readonly #shas = new Map<Bytes, string>()
  #runtime: ScriptRuntime | undefined
  /** The script that runs may not write. */
  readOnly = false

  constructor(host: ScriptHost) {
    this.#host = host
  }

  get size(): number {
    return this.#texts.size
  }

  load(text: Bytes): string {
    const known = this.#shas.get(text)
    if (known !== undefined) return known
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
    this.#runtime = undefined
  }

  eval(text: Bytes, keys: readonly Bytes[], argv: readonly Bytes[], readOnly: boolean): Reply {
    const sha = this.load(text)
    const reply = this.#run(text, sha, { keys, argv, readOnly })
    // What does not compile is not kept.
    if (reply instanceof ReplyError && reply.message.startsWith('ERR Error compiling script')) {
      this.#shas.delete(text)
      this.#texts.delete(sha)
    }
    return reply
  }

  evalSha(sha: Bytes, keys: readonly Bytes[], argv: readonly Bytes[], readOnly: boolean): Reply {
    const text = this.#texts.get(sha) ?? this.#texts.get(sha.toLowerCase())
    if (text === undefined) return noScript()
    return this.#run(text, sha, { keys, argv, readOnly })
  }

  #run(text: Bytes, sha: string, { keys, argv, readOnly }: Input): Reply {
    this.#runtime ??= new ScriptRuntime(this.#host)
    this.readOnly = readOnly
    try {
      return this.#runtime.run(text, sha, keys, argv)
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
