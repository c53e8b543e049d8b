import { codeOfSignal } from './exit-code.js'

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** For a command that goes on until a signal ends it: the first asks it to, the second ends the process. */
export class Interruption {
  readonly #began = new AbortController()
  #code = 0

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#interrupt)
  }

  get signal(): AbortSignal {
    return this.#began.signal
  }

  /** The exit code, as a shell reports a process that this signal ended; 0: none came. */
  get code(): number {
    return this.#code
  }

  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupt)
  }

  readonly #interrupt = (signal: NodeJS.Signals): void => {
    if (this.signal.aborted) process.exit(this.#code)
    this.#code = codeOfSignal(signal)
    this.#began.abort()
  }
}
