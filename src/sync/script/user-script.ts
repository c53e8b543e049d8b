import { platform } from '#platform'
import type { Codec } from '../../api/codec.js'
import type { Runtime } from '../../core/client/runtime.js'
import type { SendOptions } from '../../engine/driver.js'
import { EngineError } from '../../errors.js'
import { slotOf } from '../../keys.js'
import { type Script as Stored, script } from '../../lua/script.js'
import { anything } from '../../lua/reply-shape.js'
import { OPTIONS, checkFlag, checkName, checkOptions, checkWords, show } from '../../check-arguments.js'
import type { Returns, Script, ScriptInput, ScriptOptions } from '../../api/script.js'
import { checkReturns, readers } from './script-returns.js'
import { codecOf, encodeWith } from '../../codecs/codec-by-name.js'
import type { Arg, Reply } from '../../lua/values.js'

type Call = ScriptInput & { readonly returns?: keyof Returns | undefined }
type Send = (keys: readonly string[], args: readonly Arg[], options: SendOptions) => Promise<Reply>

/** In a cluster, a script without keys runs where slot 0 is, as in Redisson. */
const IN_SLOT_0 = '{06S}'

/** How a client runs its user's scripts. */
export class Scripting {
  readonly runtime: Runtime
  /** False when a server before Redis 7 has said that it has no such commands. */
  #readOnly = true

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  /** Checks and encodes the call, sends it with `send`, and reads the answer. */
  async run(call: Call | undefined, { codec, readOnly, options }: Manner, send: Send): Promise<unknown> {
    const { keys = [], args = [], returns = 'value', route } = checkOptions(call, options)
    const read = readers[checkReturns(returns)]
    const mapped = this.#mapped(checkList(keys, 'keys'))
    const where = route === undefined ? (mapped[0] ?? IN_SLOT_0) : this.runtime.keyOf(checkName(route, 'route'))
    const encoded = checkList(args, 'args').map((arg, i) => encodeWith(codec, arg, `args[${i}]`))
    const sent = this.runtime.untilClosed(() =>
      this.#send(readOnly, (reads) => send(mapped, encoded, { binary: true, route: where, readOnly: reads })),
    )
    return read(await sent, codec)
  }

  /** Redisson, too, maps the names of a script's keys. */
  #mapped(keys: readonly string[]): string[] {
    const mapped = keys.map((key, i) => this.runtime.keyOf(checkName(key, `keys[${i}]`)))
    const stray = this.runtime.link.cluster
      ? mapped.find((key) => slotOf(key) !== slotOf(mapped[0] as string))
      : undefined
    if (stray === undefined) return mapped
    throw new RangeError(
      `in a cluster, all keys of a script must be in one slot (use {tags}): ${show(mapped[0])} and ${show(stray)} are not`,
    )
  }

  async #send(readOnly: boolean, send: (readOnly: boolean) => Promise<Reply>): Promise<Reply> {
    if (!readOnly || !this.#readOnly) return send(false)
    try {
      return await send(true)
    } catch (error) {
      if (!(error instanceof EngineError && error.message.startsWith('ERR unknown command'))) throw error
      this.#readOnly = false
      return send(false)
    }
  }
}

/** The options with which a script was made. */
export interface Manner {
  readonly codec: Codec
  readonly readOnly: boolean
  /** The options that its calls accept. */
  readonly options: readonly string[]
}

/** `known`: all options that the same object may have. */
export const mannerOf = (options: ScriptOptions | undefined, known: readonly string[] = OPTIONS.script): Manner => {
  const { codec = 'string', readOnly = false } = checkOptions(options, known)
  checkFlag(readOnly, 'readOnly')
  return { codec: codecOf(codec), readOnly, options: known === OPTIONS.script ? OPTIONS.run : known }
}

const checkList = <T>(list: readonly T[], what: string): readonly T[] => {
  const isList: boolean = Array.isArray(list)
  // A hole is a value that is missing, like undefined, and `map` would skip it.
  if (isList) return Array.from(list)
  throw new TypeError(`${what} must be an array, not ${show(list)}`)
}

/** A Lua script of the user. */
export class UserScript implements Script {
  readonly #scripting: Scripting
  readonly #manner: Manner
  readonly #stored: Stored<readonly string[], readonly Arg[], Reply>

  constructor(scripting: Scripting, lua: string, options: ScriptOptions | undefined) {
    this.#scripting = scripting
    this.#manner = mannerOf(options)
    this.#stored = script('user', platform.hash('sha1', checkWords(lua, 'lua')), lua, 0, anything)
  }

  get sha(): string {
    return this.#stored.sha
  }

  run<R extends keyof Returns>(call?: ScriptInput & { readonly returns?: R | undefined }): Promise<Returns[R]> {
    const { link } = this.#scripting.runtime
    const answer = this.#scripting.run(call, this.#manner, (keys, args, options) =>
      link.run(this.#stored, keys, args, options),
    )
    return answer as Promise<Returns[R]>
  }
}
