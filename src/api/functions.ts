import type { Returns, ScriptInput, ScriptOptions } from './script.js'

/** Options of `functions.load`. */
export interface LoadOptions {
  /** Replaces a library of this name. Default false: the server refuses the new one. */
  readonly replace?: boolean | undefined
}

/** Options of `functions.list`. */
export interface ListLibrariesOptions {
  /** Only libraries whose name matches: `*` stands for any text, `?` for a character. Default: all. */
  readonly pattern?: string | undefined
  /** Adds the code of each library. Default false. */
  readonly code?: boolean | undefined
}

/** Options of `functions.restore`. */
export interface RestoreOptions {
  /**
   * What happens to the libraries that are there: `append` keeps them, and refuses a name that exists; `replace` replaces those of the same name; `flush` deletes
   * all. Default `append`.
   */
  readonly policy?: 'append' | 'replace' | 'flush' | undefined
}

/** A function of a library. */
export interface LibraryFunction {
  /** The name that `functions.call` takes. */
  readonly name: string
  /** What its author wrote about it. */
  readonly description?: string | undefined
  /** Such as `no-writes`, which a call with `readOnly` needs. */
  readonly flags: readonly string[]
}

/** A library of functions on the server. */
export interface FunctionLibrary {
  /** The name from the first line of its code. */
  readonly name: string
  /** The language: `LUA`. */
  readonly engine: string
  /** Its functions. */
  readonly functions: readonly LibraryFunction[]
  /** The code, if you asked for it. */
  readonly code?: string | undefined
}

/** A function that runs now. */
export interface RunningFunction {
  /** Its name. */
  readonly name: string
  /** The command that called it, in words. */
  readonly command: readonly string[]
  /** For how many ms it has run. */
  readonly duration: number
}

/** What a server says of its functions. */
export interface FunctionStats {
  /** The function that runs now, if there is one. */
  readonly running?: RunningFunction | undefined
  /** How many libraries there are. */
  readonly libraries: number
  /** How many functions there are. */
  readonly functions: number
}

/**
 * Redis Functions: libraries of your own code that the server keeps, also after a restart. They need a server, and do not work on `memory:`. On a cluster, calls that
 * change something go to all nodes that accept writes.
 */
export interface Functions {
  /** Stores a library, and resolves to its name. The code begins with a line such as `#!lua name=orders`. */
  load(code: string, options?: LoadOptions): Promise<string>
  /** Calls a function once, as `script.run` does: it rejects with `NO_REPLY` if the answer is lost, and the function may have run. `readOnly` uses FCALL_RO. */
  call(
    name: string,
    options?: ScriptInput & ScriptOptions & { readonly returns?: 'value' | undefined },
  ): Promise<unknown>
  /** Calls a function once. `returns` says how its answer is read. */
  call<R extends keyof Returns>(
    name: string,
    options: ScriptInput & ScriptOptions & { readonly returns: R },
  ): Promise<Returns[R]>
  /** The libraries; on a cluster, those of one node. */
  list(options?: ListLibrariesOptions): Promise<FunctionLibrary[]>
  /** What runs now, and how much there is. It uses a connection of its own, so that it does not wait behind a function. */
  stats(): Promise<FunctionStats>
  /** Deletes a library. */
  delete(library: string): Promise<void>
  /** Deletes all libraries, those of other programs, too. */
  flush(): Promise<void>
  /** All libraries as bytes, for `restore`. */
  dump(): Promise<Uint8Array>
  /** Stores the libraries that `dump` returned. */
  restore(dump: Uint8Array, options?: RestoreOptions): Promise<void>
  /**
   * Ends the function that is running. Rejects with `UNKILLABLE` if it has already written, and with `NOTBUSY` if none is running. It uses a connection of its
   * own.
   */
  kill(): Promise<void>
}
