import type { Shape } from './reply-shape.js'
import type { Arg } from './values.js'

declare const types: unique symbol

/**
 * One atomic operation on the server, generated from its `.lua` file. The file's header declares the types of its KEYS, ARGV and
 * reply. The reply is checked when it arrives.
 */
export interface Script<
  K extends readonly string[] = readonly string[],
  A extends readonly Arg[] = readonly Arg[],
  R = unknown,
> {
  /** Folder and file, such as `lock/acquire`. */
  readonly name: string
  readonly sha: string
  readonly text: string
  /** How many KEYS it takes; the minimum if the number varies. */
  readonly keys: number
  /** Whether a reply has the declared type. */
  readonly fits: Shape<R>
  /** Only for the compiler: it never exists at run time. */
  readonly [types]?: { readonly keys: K; readonly args: A; readonly reply: R }
}

type Types<S extends Script> = NonNullable<S[typeof types]>

/** `run<S extends Script>(script: S, keys: KeysOf<S>, args: ArgsOf<S>): Promise<ReplyOf<S>>` */
export type KeysOf<S extends Script> = Types<S>['keys']
export type ArgsOf<S extends Script> = Types<S>['args']
export type ReplyOf<S extends Script> = Types<S>['reply']

export const script = <K extends readonly string[], A extends readonly Arg[], R>(
  name: string,
  sha: string,
  text: string,
  keys: number,
  fits: Shape<R>,
): Script<K, A, R> => ({ name, sha, text, keys, fits })
