import type { Arg } from '../engine/engine.js'

declare const shape: unique symbol

/**
 * One atomic operation on the server, generated from its `.lua` file. The types of its KEYS, its ARGV and its reply are
 * those that the file's header declares; the reply's is a promise of the file, not checked when it arrives.
 */
export interface Script<
  K extends readonly string[] = readonly string[],
  A extends readonly Arg[] = readonly Arg[],
  R = unknown,
> {
  /** Folder and file, as in `lock/acquire`. */
  readonly name: string
  readonly sha: string
  readonly text: string
  /** How many KEYS it takes; the least when the number varies. */
  readonly keys: number
  /** Only for the compiler: never there. */
  readonly [shape]?: { readonly keys: K; readonly args: A; readonly reply: R }
}

type Shape<S extends Script> = NonNullable<S[typeof shape]>

/** `run<S extends Script>(script: S, keys: KeysOf<S>, args: ArgsOf<S>): Promise<ReplyOf<S>>` */
export type KeysOf<S extends Script> = Shape<S>['keys']
export type ArgsOf<S extends Script> = Shape<S>['args']
export type ReplyOf<S extends Script> = Shape<S>['reply']

export const script = <K extends readonly string[], A extends readonly Arg[], R>(
  name: string,
  sha: string,
  text: string,
  keys: number,
): Script<K, A, R> => ({ name, sha, text, keys })
