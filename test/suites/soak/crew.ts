import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CallEvent, HistoryEvent } from 'holdfast/testing'
import type { Proxy } from '../../support/proxy.js'
import { startProxy } from '../../support/proxy.js'
import { fakedWall, faketime } from './faketime.js'
import { machineTime, readLog } from './log.js'
import { WORKERS } from './settings.js'
import type { Order } from './worker.js'

const PROGRAM = fileURLToPath(new URL('worker.js', import.meta.url))

interface Life {
  readonly name: string
  readonly file: string
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  /** When it was seen to be dead; undefined: it lives, or ended well. */
  diedAt?: number
}

/** One place for a client process, behind a proxy of its own. Who dies there is followed by the next. */
export class Seat {
  readonly proxy: Proxy
  readonly index: number
  readonly #directory: string
  readonly #seed: number
  readonly #clock: string | undefined
  readonly #lives: Life[] = []
  /** What went wrong that nobody did to it. */
  readonly mishaps: string[] = []
  #expected = false
  /** A fault is being done to it. */
  busy = false

  private constructor(index: number, proxy: Proxy, directory: string, seed: number) {
    this.index = index
    this.proxy = proxy
    this.#directory = directory
    this.#seed = seed
    // Half of them live by a wall clock that can be stepped.
    this.#clock = faketime === undefined || index % 2 === 1 ? undefined : join(directory, `clock${index}`)
  }

  static async open(index: number, port: number, directory: string, seed: number): Promise<Seat> {
    const seat = new Seat(index, await startProxy(port), directory, seed)
    seat.start()
    return seat
  }

  get name(): string {
    return this.#life.name
  }

  get #life(): Life {
    return this.#lives.at(-1) as Life
  }

  get stepsWall(): boolean {
    return this.#clock !== undefined
  }

  start(): void {
    const name = `p${this.index}.${this.#lives.length}`
    const file = join(this.#directory, `${name}.log`)
    const seed = this.#seed + 1000 * this.#lives.length + this.index
    if (this.#clock !== undefined) writeFileSync(this.#clock, '+0')
    const child = spawn(
      process.execPath,
      [
        '--unhandled-rejections=strict',
        '--enable-source-maps',
        PROGRAM,
        name,
        this.proxy.url,
        file,
        String(seed),
        String(WORKERS),
      ],
      {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        env: { ...process.env, ...(this.#clock === undefined ? {} : fakedWall(this.#clock)) },
      },
    )
    child.on('error', () => undefined)
    const life: Life = { name, file, child, ended: once(child, 'exit') }
    this.#lives.push(life)
    this.#expected = false
    const end = (): void => void child.kill('SIGKILL')
    process.once('exit', end)
    child.once('exit', (code, signal) => {
      process.off('exit', end)
      if (code === 0) return
      life.diedAt = machineTime()
      if (!this.#expected) this.mishaps.push(`${name} ended by itself: ${signal ?? `exit ${code}`}`)
    })
  }

  order(order: Order): void {
    const { child } = this.#life
    if (child.connected) child.send(order, () => undefined)
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#life.child.kill(signal)
  }

  stepWall(seconds: number): void {
    if (this.#clock !== undefined) writeFileSync(this.#clock, `${seconds < 0 ? '' : '+'}${seconds}`)
  }

  async kill(): Promise<void> {
    this.#expected = true
    this.#life.child.kill('SIGKILL')
    await this.#life.ended
  }

  /** Ends by itself when all is given back; else it is killed, and that is told. */
  async finish(limit: number): Promise<void> {
    this.order('finish')
    const late = setTimeout(() => {
      this.mishaps.push(`${this.name} did not end within ${limit} ms`)
      void this.kill()
    }, limit)
    if (this.#life.child.exitCode === null && this.#life.child.signalCode === null) await this.#life.ended
    clearTimeout(late)
    await this.proxy.close()
  }

  /** All that its processes told; what was on its way when one died ends with it. */
  history(): HistoryEvent[] {
    return this.#lives.flatMap(({ file, name, diedAt }) => {
      const events = existsSync(file) ? readLog(file, name) : []
      if (diedAt === undefined) return events
      const open = new Map<string, CallEvent>()
      for (const event of events) {
        if (['refused', 'released', 'lost'].includes(event.what)) open.delete(event.call)
        else open.set(event.call, event)
      }
      return [
        ...events,
        ...[...open.values()].map(({ process, call, name }) => ({
          at: diedAt,
          what: 'crashed' as const,
          process,
          call,
          name,
        })),
      ]
    })
  }
}
