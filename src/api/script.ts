import type { Codec, CodecName } from './codec.js'

/** How a script's answer is read. In brackets: Redisson's ReturnType, its older name and then its newer one. */
export interface Returns {
  /** 1 and OK are `true`; nil and everything else are `false`. (BOOLEAN) */
  boolean: boolean
  /** A whole number; `undefined` for nil. (INTEGER, LONG) */
  integer: number | undefined
  /** Text, whatever the codec; `undefined` for nil. (STATUS, STRING) */
  status: string | undefined
  /** What Redis answers: text read by the codec, numbers, and lists of these; `undefined` for nil. (VALUE) */
  value: unknown
  /** A list; `[]` for nil. Redis cuts a Lua table at its first nil. (MULTI, LIST) */
  list: unknown[]
}

/** Options of `client.script`. They apply to every run. */
export interface ScriptOptions {
  /** The script may not write: the server refuses commands that write, and a replica may run the script if the topology has one. Default false. */
  readonly readOnly?: boolean | undefined
  /** Encodes the arguments and decodes the answer. Default 'string': a script gets what you write, `10` is 10. */
  readonly codec?: CodecName | Codec | undefined
}

/** What one run of a script gets. */
export interface ScriptInput {
  /** KEYS. Each name goes through the client's `mapName`. On a cluster, all of them must be in one slot. Default: none. */
  readonly keys?: readonly string[] | undefined
  /**
   * On a cluster: runs the script on the node that has this key, without adding it to KEYS. Default: the node of the first of `keys`; without keys, the node of
   * slot 0.
   */
  readonly route?: string | undefined
  /** ARGV. Each argument is encoded by the codec. Default: none. */
  readonly args?: readonly unknown[] | undefined
}

/**
 * A Lua script of your own. It is called by its SHA-1, and its text is sent only if the server does not know it. Each call is sent once: if the answer is lost, the
 * call rejects with `NO_REPLY`, and the script may have run.
 */
export interface Script {
  /** Its name on the server: the SHA-1 of its text. */
  readonly sha: string
  /** Runs the script once. `returns` says how its answer is read. */
  run(options?: ScriptInput & { readonly returns?: 'value' | undefined }): Promise<unknown>
  /** Runs the script once. `returns` says how its answer is read. */
  run<R extends keyof Returns>(options: ScriptInput & { readonly returns: R }): Promise<Returns[R]>
}

/** The server's own store of scripts. On a cluster, each of these calls except `run` goes to all nodes that accept writes. */
export interface Scripts {
  /** Stores a script and resolves to its SHA-1. */
  load(lua: string): Promise<string>
  /** Runs a script by its SHA-1 alone. Rejects with `NOSCRIPT` if the server does not know it. */
  run(sha: string, options?: ScriptInput & ScriptOptions & { readonly returns?: 'value' | undefined }): Promise<unknown>
  /** Runs a script by its SHA-1 alone. Rejects with `NOSCRIPT` if the server does not know it. */
  run<R extends keyof Returns>(
    sha: string,
    options: ScriptInput & ScriptOptions & { readonly returns: R },
  ): Promise<Returns[R]>
  /** For each script, whether the server knows it; on a cluster, whether all nodes do. */
  exists(...shas: string[]): Promise<boolean[]>
  /** Deletes all scripts, those of other clients, too. The scripts of this library are loaded again when they are needed. */
  flush(): Promise<void>
  /**
   * Ends the script that is running. Rejects with `UNKILLABLE` if the script has already written, and with `NOTBUSY` if none is running. It uses a connection of
   * its own, so that it does not wait behind the script.
   */
  kill(): Promise<void>
}
