import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order } from './guardian-duty.js'

const PROGRAM = fileURLToPath(import.meta.resolve('#src/cli/run/guardian.js'))
/** How long a new process may take until it answers, ms. */
const PATIENCE = 10_000
/** If it is killed again and again, the machine is in trouble: the first ones are replaced at once, later ones after this pause, ms. */
const PAUSE = 1000
const AT_ONCE = 5

const launch = (): ChildProcess =>
  fork(PROGRAM, [], {
    // Nothing of it may keep a pipe, a folder or a terminal.
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [],
    // Node and `ps` must be able to start. It must not know where the server is.
    env: { PATH: process.env['PATH'], LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'] },
  })

/** The guardian, as seen from the process that it watches. */
export class GuardianHandle {
  #child: ChildProcess
  #order: Order | undefined
  #answered: (well: boolean) => void = () => undefined
  #ended = false
  #started = 1
  /** Called when it ends the command, because this process has not done so in time. */
  onActs: () => void = () => undefined

  /** It starts while the client connects, so that the command does not wait for it. */
  constructor() {
    this.#child = this.#launch()
  }

  /** Resolves to false if the guardian cannot be started. The command must not be started before. */
  watches(order: Order): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), PATIENCE)
      this.#answered = (well) => {
        clearTimeout(timer)
        resolve(well)
      }
      this.tell(order)
    })
  }

  tell(order: Order): void {
    this.#order = order
    // If it has just ended, the next one gets the order.
    if (this.#child.connected) this.#child.send(order, () => undefined)
  }

  /** Nothing is left to guard. */
  async end(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit', { signal: AbortSignal.timeout(500) }).catch(() => undefined)
    // It has nothing to put in order, and may not even have begun.
    child.kill('SIGKILL')
    await gone
  }

  #launch(): ChildProcess {
    const child = launch()
    child.on('message', (word) => {
      if (word === 'acts') this.onActs()
      else this.#answered(true)
    })
    child.on('error', () => {
      // If it could not be started there is an error, and no exit.
      if (child.pid !== undefined) return
      this.#answered(false)
      this.#again()
    })
    child.once('exit', () => this.#again())
    return child
  }

  /** Somebody killed it. */
  #again(): void {
    setTimeout(() => this.#replace(), this.#started < AT_ONCE ? 0 : PAUSE)
  }

  #replace(): void {
    if (this.#ended) return
    this.#started += 1
    this.#child = this.#launch()
    if (this.#order !== undefined) this.tell(this.#order)
  }
}
