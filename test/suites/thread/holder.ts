import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ClientOptions } from 'holdfast'
import { until } from '../../support/until.js'
import type { Order, Told } from './blocked-process.js'
import type { KindName } from './kinds.js'

const PROGRAM = fileURLToPath(new URL('blocked-process.js', import.meta.url))
/** ms. Long enough for a busy machine to renew it. */
export const LEASE = 3000
export const THREE_LEASES = 3 * LEASE

interface Wanted {
  readonly options: Omit<ClientOptions, 'watchdog'> & {
    readonly watchdog: { readonly thread: boolean; readonly maxBlocked?: number }
  }
  readonly kinds?: readonly KindName[]
  readonly program?: string
  after(work: () => unknown): void
}

/** A process that holds, and all that it told. */
export class Holder {
  readonly told: Told[] = []
  readonly #child
  readonly ended: Promise<unknown>

  private constructor({ options, kinds = ['lock'], program = PROGRAM, after }: Wanted) {
    const all = { commandTimeout: 1000, ...options, watchdog: { lease: LEASE, ...options.watchdog } }
    this.#child = spawn(process.execPath, [program, JSON.stringify(all), JSON.stringify(kinds)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.ended = once(this.#child, 'exit')
    this.#child.on('message', (told: Told) => this.told.push(told))
    after(() => this.#child.kill('SIGKILL'))
  }

  /** Resolves when it has all holds, and its thread is connected. */
  static async start(wanted: Wanted): Promise<Holder> {
    const holder = new Holder(wanted)
    await holder.tells('held')
    if (wanted.options.watchdog.thread) await holder.tells('thread connected')
    return holder
  }

  last(what: Told['what']): Told | undefined {
    return this.told.filter((one) => one.what === what).at(-1)
  }

  /** Resolves when it has told that `times` times. */
  async tells(what: Told['what'], times = 1): Promise<Told> {
    await until(() => this.told.filter((one) => one.what === what).length >= times, 60_000)
    return this.last(what) as Told
  }

  order(order: Order): void {
    this.#child.send(order)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Resolves when it runs again. */
  blocked(ms: number): Promise<Told> {
    this.order({ block: ms })
    return this.tells('back')
  }

  /** Resolves when it has ended. */
  async release(): Promise<Told> {
    this.order('release')
    await this.ended
    if (this.#child.exitCode !== 0) throw new Error(`it ended with code ${this.#child.exitCode}`)
    return this.last('released') as Told
  }
}
