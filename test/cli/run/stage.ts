import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { descendantsOf, processTable, type Row } from '#src/cli/run/process-table.js'
import type { Broken } from '../../support/server.js'
import { until } from '../../support/until.js'

export const MAIN = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url))
export const LINUX = process.platform === 'linux'

export interface Result {
  readonly code: number | null
  readonly signal: string | null
  readonly out: string
  readonly error: string
  /** From the start to the end. */
  readonly ms: number
}

export interface StartOptions {
  readonly url?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: 'ignore' | 'pipe'
  readonly command?: 'run' | 'once'
  /** In a terminal of its own, made by script(1). What is written to stdin is typed there. */
  readonly terminal?: boolean
}

/** `holdfast run` or `once`, as a process. Whatever it starts has a mark in its environment, by which it is found again. */
export class Run {
  readonly child: ChildProcess
  readonly mark = `run-${randomUUID()}`
  readonly ended: Promise<Result>
  out = ''
  error = ''

  constructor(
    args: readonly string[],
    { url, env, stdin = 'ignore', command = 'run', terminal = false }: StartOptions,
  ) {
    const call = [process.execPath, MAIN, command, ...args]
    // Without `exec`, some shells stay in between, and are what Ctrl-C ends.
    const [program = '', ...rest] = terminal
      ? ['script', '-qec', `exec ${call.map(quote).join(' ')}`, '/dev/null']
      : call
    const began = performance.now()
    this.child = spawn(program, rest, {
      env: { ...process.env, HOLDFAST_URL: url, HOLDFAST_TEST_MARK: this.mark, ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    })
    this.child.stdout?.on('data', (data: Buffer) => (this.out += data.toString()))
    this.child.stderr?.on('data', (data: Buffer) => (this.error += data.toString()))
    this.ended = new Promise((resolve) => {
      // `close`: also every process that shares its pipes has ended.
      this.child.once('close', (code, signal) => {
        const { out, error } = this
        resolve({ code, signal, out, error, ms: performance.now() - began })
      })
    })
  }

  get pid(): number {
    return this.child.pid ?? assert.fail('it was not started')
  }

  kill(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal)
  }

  async said(word: string, limit?: number): Promise<void> {
    await until(() => this.out.includes(word) || this.child.exitCode !== null, limit)
    assert.ok(this.out.includes(word), `it ended with ${this.child.exitCode}: ${this.out}${this.error}`)
  }

  /** All that it has started, the guardian as well. */
  family(): Row[] {
    return descendantsOf(processTable(), this.pid)
  }

  guardian(): number {
    return this.#member((line) => line.includes('guardian'))
  }

  /** In a terminal: `holdfast run` itself. */
  inner(): number {
    return this.#member((line) => line.startsWith(`${process.execPath}\0${MAIN}`))
  }

  #member(is: (line: string) => boolean): number {
    const found = this.family().find(({ pid }) => is(commandLine(pid)))
    return found?.pid ?? assert.fail('it has no such process')
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const commandLine = (pid: number): string => read(pid, 'cmdline')

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

/** The processes that are alive and have the mark, without `holdfast run` itself. */
export const marked = ({ mark, pid: own }: Run): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== own)
    .map(Number)
    .filter((pid) => read(pid, 'environ').includes(mark))

/** None of the processes is left, and nothing else that this run has started. */
export const nothingLeft = async (run: Run, family: readonly Row[] = [], limit = 5000): Promise<void> => {
  const left = (): Row[] => {
    const rows = processTable()
    return family.filter((one) => rows.some(({ pid, start }) => pid === one.pid && start === one.start))
  }
  await until(() => marked(run).length === 0 && left().length === 0, limit)
}

/** Starts runs on the test's server, and ends them with the test. */
export const runs =
  ({ server, after }: Pick<Broken, 'server' | 'after'>) =>
  (args: readonly string[], options: StartOptions = {}): Run => {
    const run = new Run(args, { url: server.url, ...options })
    after(() => {
      const rest = LINUX ? [...run.family().map(({ pid }) => pid), ...marked(run)] : []
      run.child.kill('SIGKILL')
      for (const pid of rest) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It has ended.
        }
      }
    })
    return run
  }

/** Says `ready`, and works until it is ended. */
export const WORKS = ['sh', '-c', 'echo ready; while :; do sleep 0.1; done'] as const
/** Says which signals it hears, and ends only by SIGKILL or after `bye`. */
export const HEARS = (bye = 'SIGTERM'): readonly string[] => [
  process.execPath,
  '-e',
  `for (const s of ['SIGHUP','SIGINT','SIGQUIT','SIGTERM','SIGUSR1','SIGUSR2','SIGALRM','SIGWINCH','SIGCONT'])
     process.on(s, () => { console.log('heard ' + s); if (s === '${bye}') process.exit(7) })
   setInterval(() => undefined, 1000); console.log('ready')`,
]
/** Hears no TERM at all. */
export const DEAF = ['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 0.1; done'] as const
