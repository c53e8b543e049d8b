import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import type { Ended } from '../exit-code.js'
import type { Target } from './processes.js'

/**
 * Waits for a word on descriptor 3, and becomes the command then: the process keeps its id. If it gets no word, because the lock was lost, a stop
 * was asked for, or the process that starts it was killed, it ends without a trace.
 */
const SHIM = 'read -r _holdfast_word <&3 || exit 125; exec "$@" 3<&-'

/** What every shell passes on as it is. */
const PLAIN_NAME = /^(?!IFS$)[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Some shells drop variables that they have no name for, such as `spring.datasource.url` or a function of bash, so env(1) sets those again.
 * It would take a program with a `=` in its name for one more variable.
 */
export const withOddNames = (command: readonly string[], env: Environment): readonly string[] => {
  const odd = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || PLAIN_NAME.test(name) ? [] : `${name}=${value}`,
  )
  return odd.length === 0 || command[0]?.includes('=') === true ? command : ['env', '--', ...odd, ...command]
}

/** What an outer `holdfast run` or `once` told must not be taken for what this one tells. */
const TOLD = [
  'HOLDFAST_NAME',
  'HOLDFAST_OWNER',
  'HOLDFAST_TOKEN',
  'HOLDFAST_TICKET',
  'HOLDFAST_SLOT',
  'HOLDFAST_ATTEMPT',
] as const

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of the command: that of this process, and what it learns of the lock. */
export const environmentOf = (env: Environment, told: Environment): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !TOLD.some((one) => one === name))),
  ...told,
})

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
