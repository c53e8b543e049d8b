import { codeOfSignal } from '../exit-code.js'

/** What these signals do to a process that does not listen: it ends. */
const ENDING = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'] as const
/** Those that a terminal sends to its whole process group, so that the command has them already. */
const TYPED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']
/** Those that are for one program, and would end the programs around it. */
const FOR_ONE: readonly NodeJS.Signals[] = ['SIGUSR1', 'SIGUSR2', 'SIGALRM']

/** Where signals go while the command runs. */
export interface Receiver {
  send(signal: NodeJS.Signals): void
  sendToCommand(signal: NodeJS.Signals): void
}

/** The reason of a wait that a signal ended. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`)
    this.signal = signal
  }

  get code(): number {
    return codeOfSignal(this.signal)
  }
}

/**
 * Hears all signals from the first moment on. Before there is a command, a signal that would end a process ends the wait. While the command runs,
 * it gets every signal. Afterwards they are ignored for as long as the lock is being released; the second one ends this process at once.
 */
export class IncomingSignals {
  readonly #terminal: boolean
  readonly #stop = new AbortController()
  #receiver: Receiver | undefined
  #listeners: (readonly [signal: NodeJS.Signals, listener: () => void])[] = []
  /** How many have asked it to end since the command ended, or while it was not there yet. */
  #asked = 0
  #over = false
  /** Called when this process goes on after it was stopped, before the command does. */
  onContinue: () => void = () => undefined

  /** `terminal`: the command is in the process group of the terminal. */
  constructor(terminal: boolean) {
    this.#terminal = terminal
    for (const signal of ENDING) this.#on(signal, () => this.#ending(signal))
    this.#on('SIGCONT', () => this.#continues())
    // In a terminal, a Ctrl-Z stops the command and this process, as it stops any other.
    if (terminal) return
    this.#on('SIGTSTP', () => this.#stops())
    this.#on('SIGWINCH', () => this.#receiver?.send('SIGWINCH'))
  }

  /** Aborts with a `Stopped` if a signal comes before the command has begun. */
  get stop(): AbortSignal {
    return this.#stop.signal
  }

  /** From now on the command gets them. Must be called in the same turn in which the command begins. */
  forward(receiver: Receiver): void {
    this.#receiver = receiver
    this.#asked = 0
  }

  /** The command is running. */
  get forwards(): boolean {
    return this.#receiver !== undefined
  }

  /** The command has ended. */
  ignore(): void {
    this.#receiver = undefined
    this.#asked = 0
    this.#over = true
  }

  off(): void {
    for (const [signal, listener] of this.#listeners.splice(0)) process.off(signal, listener)
  }

  #on(signal: NodeJS.Signals, listener: () => void): void {
    process.on(signal, listener)
    this.#listeners.push([signal, listener])
  }

  #ending(signal: NodeJS.Signals): void {
    const receiver = this.#receiver
    if (receiver !== undefined) {
      if (this.#terminal && TYPED.includes(signal)) return
      if (FOR_ONE.includes(signal)) receiver.sendToCommand(signal)
      else receiver.send(signal)
      return
    }
    this.#asked += 1
    if (this.#asked > 1) process.exit(codeOfSignal(signal))
    if (!this.#over) this.#stop.abort(new Stopped(signal))
  }

  /** The command is in a session of its own, where the system ignores SIGTSTP: nobody could continue it there. */
  #stops(): void {
    this.#receiver?.send('SIGSTOP')
    process.kill(process.pid, 'SIGSTOP')
  }

  #continues(): void {
    this.onContinue()
    this.#receiver?.send('SIGCONT')
  }
}
