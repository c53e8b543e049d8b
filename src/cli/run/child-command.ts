import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import type { Ended } from '../exit-code.js'
import { withOddNames } from './child-environment.js'
import type { Target } from './processes.js'

/**
 * Waits for a word on descriptor 3, and becomes the command then: the process keeps its id. If it gets no word, because the lock was lost, a stop
 * was asked for, or the process that starts it was killed, it ends without a trace.
 */
const SHIM = 'read -r _holdfast_word <&3 || exit 125; exec "$@" 3<&-'

export interface CommandOptions {
  readonly command: readonly string[]
  readonly env: Record<string, string | undefined>
  /** It shares the terminal with this process, and its process group, so that it can read from it and gets what is typed. */
  readonly terminal: boolean
}

const prepared = ({ command, env, terminal }: CommandOptions): ChildProcess | { readonly error: unknown } => {
  try {
    return spawn('/bin/sh', ['-c', SHIM, 'holdfast', ...withOddNames(command, env)], {
      detached: !terminal,
      env,
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    })
  } catch (error) {
    // Too many arguments, for example. Other errors are an event.
    return { error }
  }
}

const endOf = (child: ChildProcess): Promise<Ended> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', (error) => resolve({ code: null, signal: null, error }))
  })

/** The command: prepared, but not started before `go`. */
export class ChildCommand {
  /** How it ended. Never rejects. */
  readonly ended: Promise<Ended>
  /** Undefined: the system could not start a process; `ended` says why. */
  readonly target: Target | undefined
  readonly #word: Writable | undefined

  constructor(options: CommandOptions) {
    const child = prepared(options)
    if ('error' in child) {
      this.ended = Promise.resolve({ code: null, signal: null, error: child.error })
      return
    }
    this.ended = endOf(child)
    this.target = child.pid === undefined ? undefined : { pid: child.pid, group: !options.terminal }
    this.#word = (child.stdio[3] as Writable | null | undefined) ?? undefined
    // It may have ended before it could read.
    this.#word?.on('error', () => undefined)
  }

  /** From now on it runs. */
  go(): void {
    this.#word?.end('go\n')
  }

  /** It will never run. */
  cancel(): void {
    this.#word?.destroy()
  }
}
