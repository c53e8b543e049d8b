import type { Script } from '../lua/script.js'
import type { Arg } from '../lua/values.js'

/** Calls a script by its SHA. The server has its text in the script cache, or answers NOSCRIPT. */
export const bySha = (
  { sha }: Script,
  keys: readonly string[],
  args: readonly Arg[],
  readOnly: boolean | undefined,
): Arg[] => [readOnly === true ? 'EVALSHA_RO' : 'EVALSHA', sha, keys.length, ...keys, ...args]

/** The same call with the script's text, which the server caches from then on. */
export const withText = ([command, , ...rest]: readonly Arg[], script: Script): Arg[] => [
  command === 'EVALSHA_RO' ? 'EVAL_RO' : 'EVAL',
  script.text,
  ...rest,
]

/** The script did not run: the cache was emptied, or it is another server. */
export const isNotCached = ({ message }: Error): boolean => message.startsWith('NOSCRIPT')
