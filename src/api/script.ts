import type { Codec, CodecName } from './codec.js'

/** What a script's answer is read as; in brackets Redisson's ReturnType, by its older and its newer name. */
export interface Returns {
  /** 1 and OK are `true`, nil and all else `false`. (BOOLEAN) */
  boolean: boolean
  /** `undefined` for nil. (INTEGER, LONG) */
  integer: number | undefined
  /** Text, whatever the codec; `undefined` for nil. (STATUS, STRING) */
  status: string | undefined
  /** As Redis answers: text by the codec, numbers, lists of them; `undefined` for nil. (VALUE) */
  value: unknown
  /** `[]` for nil; what stands behind the first nil of a Lua table Redis leaves out. (MULTI, LIST) */
  list: unknown[]
}

/** How a script is run, each time. */
export interface ScriptOptions {
  /** It may not write: the server refuses what does, and a replica may run it where the topology has some. Default false. */
  readonly readOnly?: boolean | undefined
  /** Of the arguments and of what is answered. Default 'string': what a script gets is what it says, `10` is 10. */
  readonly codec?: CodecName | Codec | undefined
}

/** What one run of a script is given. */
export interface ScriptInput {
  /** KEYS, by the client's `mapName`. On a cluster all must be of one slot. */
  readonly keys?: readonly string[] | undefined
  /**
   * On a cluster: run on the node that has this key, without naming it in KEYS. Default: where the first of `keys` is, or,
   * without keys, the node of slot 0.
   */
  readonly route?: string | undefined
  /** ARGV, by the codec. */
  readonly args?: readonly unknown[] | undefined
}

/**
 * Lua of your own. It goes to the server by its SHA-1, and with its text only where the server does not know it. It is
 * sent once: where the answer is lost it rejects with `NO_REPLY`, and may have run.
 */
export interface Script {
  /** Its name on the server: the SHA-1 of its text. */
  readonly sha: string
  /** Runs it once; what it answers is read as `returns` says. */
  run(options?: ScriptInput & { readonly returns?: 'value' | undefined }): Promise<unknown>
  run<R extends keyof Returns>(options: ScriptInput & { readonly returns: R }): Promise<Returns[R]>
}

/** The server's own store of scripts. On a cluster each of these goes to all nodes that are written to, `run` aside. */
export interface Scripts {
  /** Stores a script and gives its SHA-1. */
  load(lua: string): Promise<string>
  /** By its SHA-1 alone: one that the server does not know rejects with `NOSCRIPT`. */
  run(sha: string, options?: ScriptInput & ScriptOptions & { readonly returns?: 'value' | undefined }): Promise<unknown>
  run<R extends keyof Returns>(
    sha: string,
    options: ScriptInput & ScriptOptions & { readonly returns: R },
  ): Promise<Returns[R]>
  /** For each whether it is known; on a cluster to all nodes. */
  exists(...shas: string[]): Promise<boolean[]>
  /** Forgets all scripts, of all clients: those of this library are loaded anew when they are needed. */
  flush(): Promise<void>
  /**
   * Ends the script that runs. Rejects with `UNKILLABLE` when it has written, `NOTBUSY` when none runs. Goes over a
   * connection of its own, so that it does not stand behind the script.
   */
  kill(): Promise<void>
}
