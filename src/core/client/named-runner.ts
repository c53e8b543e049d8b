import type { SendOptions } from '../../engine/driver.js'
import type { Script } from '../../lua/script.js'
import type { Runtime } from './runtime.js'
import type { Fleet, ScriptRunner } from '../protocol/script-runner.js'

/** Runs scripts for one object, and puts its name on the errors. */
export class NamedRunner implements ScriptRunner {
  readonly #runtime: Runtime
  readonly #options: SendOptions

  constructor(runtime: Runtime, target: string) {
    this.#runtime = runtime
    this.#options = { target }
  }

  get publishCommand(): string {
    return this.#runtime.publishCommand
  }

  mayBeCounted(channel: string): boolean {
    return this.#runtime.mayBeCounted(channel)
  }

  get countsAll(): boolean {
    return this.#runtime.countsAll
  }

  get fleet(): Fleet {
    return this.#runtime.fleet
  }

  run<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
  ): Promise<R> {
    return this.#runtime.link.run(script, keys, args, this.#options)
  }

  take<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
    took: (reply: R) => boolean,
  ): Promise<R> {
    return this.#runtime.replicas.take(script, keys, args, took, this.#options)
  }
}
