import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { PATIENCE } from '../base/load.js'
import type { Member } from '../participants/participant.js'

/** A process that runs a file of this folder: it says when it is ready, and then answers each message. */
export class Child implements Member {
  readonly #process: ChildProcess
  readonly #complaints: string[] = []

  private constructor(file: string, args: readonly string[], execArgv: readonly string[]) {
    this.#process = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      execArgv: [...process.execArgv, ...execArgv],
    })
    this.#process.stderr?.on('data', (text: Buffer) => this.#complaints.push(text.toString()))
  }

  static async open(file: string, args: readonly string[], execArgv: readonly string[] = []): Promise<Child> {
    const child = new Child(file, args, execArgv)
    try {
      await child.#answer(PATIENCE)
      return child
    } catch (error) {
      await child.kill()
      throw error
    }
  }

  ask(message: string | number | object, limit = PATIENCE): Promise<unknown> {
    this.#process.send(message)
    return this.#answer(limit)
  }

  /** Stops it where it is, without its noticing. */
  stop(): void {
    this.#process.kill('SIGSTOP')
  }

  cont(): void {
    this.#process.kill('SIGCONT')
  }

  async end(): Promise<void> {
    const child = this.#process
    if (child.exitCode !== null || child.signalCode !== null) return
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
    if (child.connected) child.send('end')
    await once(child, 'exit')
    clearTimeout(timer)
  }

  async kill(): Promise<void> {
    const exit = once(this.#process, 'exit')
    if (this.#process.kill('SIGKILL')) await exit
  }

  async #answer(limit: number): Promise<unknown> {
    const stop = new AbortController()
    const { signal } = stop
    const timer = setTimeout(() => stop.abort(new Error('does not come to an end')), limit)
    try {
      const answer = once(this.#process, 'message', { signal }).then(([message]: unknown[]) => message)
      const exit = once(this.#process, 'exit', { signal }).then(() => {
        throw new Error(`ended: ${this.#lastComplaint()}`)
      })
      return await Promise.race([answer, exit])
    } catch (error) {
      throw stop.signal.aborted ? stop.signal.reason : error
    } finally {
      clearTimeout(timer)
      stop.abort()
    }
  }

  #lastComplaint(): string {
    const lines = this.#complaints.join('').split('\n')
    return lines.find((line) => /^([A-Z]\w*)?Error\b/.test(line)) ?? lines[0] ?? ''
  }
}
