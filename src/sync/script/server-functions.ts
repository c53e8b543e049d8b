import type {
  FunctionLibrary,
  Functions,
  FunctionStats,
  ListLibrariesOptions,
  LoadOptions,
  RestoreOptions,
} from '../../api/functions.js'
import type { Returns, ScriptInput, ScriptOptions } from '../../api/script.js'
import { OPTIONS, checkFlag, checkName, checkOptions, checkWords, show } from '../../check-arguments.js'
import { allOf } from '../../core/server/all-nodes.js'
import { anything, just, text } from '../../lua/reply-shape.js'
import { askNodes, endRunning, onMasters } from './ask-nodes.js'
import { isLibraries, isStats, libraryOf, statsOf } from './library-replies.js'
import { mannerOf, type Scripting } from './user-script.js'

type Call<R> = ScriptInput & ScriptOptions & { readonly returns?: R | undefined }

const POLICIES = ['append', 'replace', 'flush']

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array

const flag = (value: boolean | undefined, what: string, word: string): string[] => {
  if (value !== undefined) checkFlag(value, what)
  return value === true ? [word] : []
}

/** Redis Functions. */
export class ServerFunctions implements Functions {
  readonly #scripting: Scripting

  constructor(scripting: Scripting) {
    this.#scripting = scripting
  }

  async load(code: string, options?: LoadOptions): Promise<string> {
    const { replace } = checkOptions(options, OPTIONS.loadLibrary)
    const words = ['LOAD', ...flag(replace, 'replace', 'REPLACE'), checkWords(code, 'code')]
    const [name] = await onMasters(this.#runtime, ['FUNCTION', ...words], text)
    return name as string
  }

  async call<R extends keyof Returns>(name: string, call?: Call<R>): Promise<Returns[R]> {
    checkName(name)
    const read = checkOptions(call, OPTIONS.runBySha)
    const { readOnly, ...manner } = mannerOf(read, OPTIONS.runBySha)
    // A server that has FCALL has FCALL_RO.
    const answer = this.#scripting.run(read, { ...manner, readOnly: false }, (keys, args, options) =>
      this.#runtime.link.command([readOnly ? 'FCALL_RO' : 'FCALL', name, keys.length, ...keys, ...args], anything, {
        ...options,
        readOnly,
      }),
    )
    return answer as Promise<Returns[R]>
  }

  async list(options?: ListLibrariesOptions): Promise<FunctionLibrary[]> {
    const { pattern, code } = checkOptions(options, OPTIONS.listLibraries)
    const named = pattern === undefined ? [] : ['LIBRARYNAME', checkName(pattern, 'pattern')]
    const words = ['LIST', ...named, ...flag(code, 'code', 'WITHCODE')]
    const [libraries = []] = await onMasters(this.#runtime, ['FUNCTION', ...words], isLibraries)
    return libraries.map(libraryOf)
  }

  async stats(): Promise<FunctionStats> {
    const all = allOf(await askNodes(this.#runtime, ['FUNCTION', 'STATS'], isStats, 'apart')).map(statsOf)
    return all.find(({ running }) => running !== undefined) ?? (all[0] as FunctionStats)
  }

  async delete(library: string): Promise<void> {
    await onMasters(this.#runtime, ['FUNCTION', 'DELETE', checkName(library, 'library')], just('OK'))
  }

  async flush(): Promise<void> {
    await onMasters(this.#runtime, ['FUNCTION', 'FLUSH'], just('OK'))
  }

  async dump(): Promise<Uint8Array> {
    const { link } = this.#runtime
    return this.#runtime.untilClosed(() => link.command(['FUNCTION', 'DUMP'], isBytes, { binary: true }))
  }

  async restore(dump: Uint8Array, options?: RestoreOptions): Promise<void> {
    const { policy = 'append' } = checkOptions(options, OPTIONS.restoreLibraries)
    if (!isBytes(dump)) throw new TypeError(`dump must be a Uint8Array, not ${show(dump)}`)
    if (!POLICIES.includes(policy))
      throw new TypeError(`policy must be one of ${POLICIES.join(', ')}, not ${show(policy)}`)
    await onMasters(this.#runtime, ['FUNCTION', 'RESTORE', dump, policy.toUpperCase()], just('OK'))
  }

  async kill(): Promise<void> {
    await endRunning(this.#runtime, 'FUNCTION')
  }

  get #runtime(): Scripting['runtime'] {
    return this.#scripting.runtime
  }
}
