import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { buildDriver } from './build.js'

/** When it was begun and when it was over: ms of the machine's monotonic clock, as `now()` tells it here. */
export interface Times {
  readonly start: number
  readonly end: number
}

/** CLOCK_MONOTONIC in ms: the same in Java and Node, and in all processes of the machine. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** What a Java method threw. */
export class JavaError extends Error {
  override readonly name = 'JavaError'

  constructor(
    /** The class without its package. */
    readonly type: string,
    message: string,
    readonly times: Times,
  ) {
    super(`${type}: ${message}`)
  }
}

/** The result of one operation. */
export interface Answer<T> extends Promise<T> {
  /** When it is over, also with an error of Java's. */
  times(): Promise<Times>
  /** Cancels the future of an asynchronous call; `false` when it was over. */
  cancel(): Promise<boolean>
}

interface Line extends Times {
  readonly id?: number
  readonly work?: number
  readonly value?: unknown
  readonly error?: string
  readonly message?: string
}

interface Pending {
  readonly told: ((line: unknown) => void) | undefined
  resolve(line: Line): void
  reject(error: Error): void
}

const timesOf = ({ start, end }: Times): Times => ({ start, end })

/** One Java process that runs the driver (interop/java), with any number of Redisson instances in it. */
export class JavaProcess {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #pending = new Map<number, Pending>()
  readonly #ended: Promise<unknown>
  #over = false
  #requests = 0
  #complaints = ''

  private constructor(
    readonly version: string,
    child: ChildProcessWithoutNullStreams,
  ) {
    this.#child = child
    const kill = (): void => void child.kill('SIGKILL')
    process.once('exit', kill)
    this.#ended = once(child, 'close').finally(() => {
      process.off('exit', kill)
      this.#over = true
      for (const { reject } of this.#pending.values()) reject(this.#hasEnded())
      this.#pending.clear()
    })
    child.stdin.on('error', () => undefined)
    child.stderr.on('data', (data: Buffer) => (this.#complaints = (this.#complaints + String(data)).slice(-4000)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      // A killed process may leave its last line unfinished.
      if (line.endsWith('}')) this.#take(JSON.parse(line) as Line)
    })
  }

  /** Rejects with code `NO_JAVA` where there is no Java or no Maven. */
  static async start(version: string, flags: readonly string[] = []): Promise<JavaProcess> {
    const classPath = await buildDriver(version)
    const child = spawn('java', ['-XX:+UseSerialGC', '-Xmx768m', ...flags, '-cp', classPath, 'holdfast.interop.Driver'])
    return new JavaProcess(version, child)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** `told` gets the lines that the operation prints as it goes. */
  request<T>(fields: Readonly<Record<string, unknown>>, told?: (line: unknown) => void): Answer<T> {
    const id = (this.#requests += 1)
    const line = new Promise<Line>((resolve, reject) => {
      if (this.#over) {
        reject(this.#hasEnded())
        return
      }
      this.#pending.set(id, { told, resolve, reject })
      this.#child.stdin.write(`${JSON.stringify({ id, ...fields })}\n`)
    })
    return Object.assign(
      line.then(({ value }) => value as T),
      {
        times: () =>
          line.then(timesOf, (error: unknown) => {
            if (error instanceof JavaError) return error.times
            throw error
          }),
        cancel: () => this.request<boolean>({ op: 'cancel', call: id }),
      },
    )
  }

  #take(line: Line): void {
    const id = line.id ?? line.work ?? 0
    const pending = this.#pending.get(id)
    if (line.work !== undefined) {
      pending?.told?.(line)
      return
    }
    this.#pending.delete(id)
    if (line.error === undefined) pending?.resolve(line)
    else pending?.reject(new JavaError(line.error.replace(/^.*[.$]/, ''), line.message ?? '', timesOf(line)))
  }

  #hasEnded(): Error {
    return new Error(`the Java process has ended\n${this.#complaints}`)
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  stop(): void {
    this.#child.kill('SIGSTOP')
  }

  cont(): void {
    this.#child.kill('SIGCONT')
  }

  /** Ends it, whatever its instances hold or wait for. */
  async end(): Promise<void> {
    this.#child.stdin.end()
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    await this.#ended
    clearTimeout(late)
  }
}
