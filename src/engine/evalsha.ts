import type { Script } from '../lua/script.js'
import type { Arg } from '../lua/values.js'

/** A script by its SHA: the server has the text in its script cache, or answers NOSCRIPT. */
export const bySha = (
  { sha }: Script,
  keys: readonly string[],
  args: readonly Arg[],
  readOnly: boolean | undefined,
): Arg[] => [readOnly === true ? 'EVALSHA_RO' : 'EVALSHA', sha, keys.length, ...keys, ...args]

/** The same with its text, by which the server has it from then on. */
export const withText = ([command, , ...rest]: readonly Arg[], script: Script): Arg[] => [
  command === 'EVALSHA_RO' ? 'EVAL_RO' : 'EVAL',
  script.text,
  ...rest,
]

/** It did not run: the cache was emptied, or the server is another. */
export const isNotCached = ({ message }: Error): boolean => message.startsWith('NOSCRIPT')
