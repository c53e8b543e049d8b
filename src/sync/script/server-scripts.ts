import { type Shape, anything, integer, just, text, tuple } from '../../lua/reply-shape.js'
import { OPTIONS, checkName, checkOptions, checkWords } from '../../check-arguments.js'
import type { Returns, ScriptInput, ScriptOptions, Scripts } from '../../api/script.js'
import { endRunning, onMasters } from './ask-nodes.js'
import { mannerOf, type Scripting } from './user-script.js'

type Call<R> = ScriptInput & ScriptOptions & { readonly returns?: R | undefined }

/** The scripts that the server keeps. */
export class ServerScripts implements Scripts {
  readonly #scripting: Scripting

  constructor(scripting: Scripting) {
    this.#scripting = scripting
  }

  async load(lua: string): Promise<string> {
    const [sha] = await this.#everywhere(['LOAD', checkWords(lua, 'lua')], text)
    return sha as string
  }

  async run<R extends keyof Returns>(sha: string, call?: Call<R>): Promise<Returns[R]> {
    checkName(sha, 'sha')
    const { link } = this.#scripting.runtime
    const read = checkOptions(call, OPTIONS.runBySha)
    const answer = this.#scripting.run(read, mannerOf(read, OPTIONS.runBySha), (keys, args, options) =>
      link.command(
        [options.readOnly === true ? 'EVALSHA_RO' : 'EVALSHA', sha, keys.length, ...keys, ...args],
        anything,
        options,
      ),
    )
    return answer as Promise<Returns[R]>
  }

  async exists(...shas: string[]): Promise<boolean[]> {
    shas.forEach((sha, i) => checkName(sha, `shas[${i}]`))
    if (shas.length === 0) return []
    const nodes = await this.#everywhere(['EXISTS', ...shas], tuple(...shas.map(() => integer)))
    return shas.map((_sha, i) => nodes.every((known) => known[i] === 1))
  }

  async flush(): Promise<void> {
    await this.#everywhere(['FLUSH'], just('OK'))
  }

  async kill(): Promise<void> {
    await endRunning(this.#scripting.runtime, 'SCRIPT')
  }

  #everywhere<R>(words: readonly string[], fits: Shape<R>): Promise<R[]> {
    return onMasters(this.#scripting.runtime, ['SCRIPT', ...words], fits)
  }
}
