import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { now } from '../../test/suites/interop/support/java-process.js'
import type { Member, Participant } from './participant.js'
import { PATIENCE, PATIENCE_AT_END, type Load, type Sample, type Slot } from '../base/load.js'
import { root } from '../base/paths.js'

const FOLDER = join(root, 'bench/peers/go')
const programOf = (library: string): string => join(FOLDER, 'target', library)

type Answer = { readonly error: string } | { readonly value: unknown }

/** A process of Go: answers each line of its input by a line, one after the other. */
class GoMember implements Member {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string, undefined>
  readonly #load: Load
  readonly #names: readonly string[]
  #complaint = ''

  constructor(program: string, url: string, load: Load, names: readonly string[]) {
    this.#child = spawn(program, [url])
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
    this.#child.stderr.on('data', (text: Buffer) => (this.#complaint += text.toString()))
    this.#child.stdin.on('error', () => undefined)
    this.#load = load
    this.#names = names
  }

  async ask(message: Slot | 'probe', limit = PATIENCE): Promise<unknown> {
    if (message === 'probe') return this.#request({ op: 'probe', names: [`${this.#names[0]}:probe`] }, limit)
    const { startAt, patience = PATIENCE_AT_END, ...times } = message
    const { callers, clients, holdMs } = this.#load
    const opened = clients === 'each' ? callers : 1
    const load = {
      names: this.#names,
      callers,
      clients: opened,
      holdMs,
      patience,
      startAt: now() + startAt - Date.now(),
    }
    const sample = (await this.#request({ op: 'work', ...load, ...times }, limit)) as Sample
    return { ...sample, waits: Float64Array.from(sample.waits), stays: Float64Array.from(sample.stays) }
  }

  async #request(request: object, limit: number): Promise<unknown> {
    let late = false
    const timer = setTimeout(() => {
      late = true
      void this.kill()
    }, limit)
    this.#child.stdin.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await this.#lines.next()
    clearTimeout(timer)
    if (done === true) throw new Error(late ? 'does not come to an end' : `ended: ${this.#complaint.split('\n')[0]}`)
    const answer = JSON.parse(value) as Answer
    if ('error' in answer) throw new Error(answer.error)
    return answer.value
  }

  async end(): Promise<void> {
    await this.kill()
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}

/** What a library of Go has in common with the next one: its version is that of go.mod, once the program is built. */
export const inGo = (library: string, module: string) =>
  ({
    missing: 'no go',
    version: () => {
      if (!existsSync(programOf(library))) return undefined
      const text = readFileSync(join(FOLDER, library, 'go.mod'), 'utf8')
      return text
        .split('\n')
        .find((line) => line.replace('require ', '').trim().startsWith(`${module} `))
        ?.split(' v')[1]
        ?.split(' ')[0]
    },
    start: (url: string, load: Load, names: readonly string[]) =>
      Promise.resolve(new GoMember(programOf(library), url, load, names)),
    open: () => {
      throw new Error('its processes are none of Node')
    },
  }) satisfies Partial<Participant>
