import { EngineError } from '../errors.js'
import { plainText, quoted } from '../plain-text.js'
import type { Arg } from '../lua/values.js'

/** How many keys an error names. */
const MOST = 12
const LONGEST_TYPE = 30

/** The keys of a command, as far as they are known: those of a script, else the one that decides its node. */
export const keysOf = ([command, , count, ...rest]: readonly Arg[], route: string | undefined): readonly string[] => {
  if (String(command).startsWith('EVAL')) return rest.slice(0, Number(count)).map(String)
  return route === undefined ? [] : [route]
}

/**
 * The error of a command that found something else in one of its keys, with those that exist and their types. `typeOf` asks for one; without an answer, the key is
 * named without its type.
 */
export const namingKeys = async (
  { code, message, target }: EngineError,
  keys: readonly string[],
  typeOf: (key: string) => Promise<string>,
): Promise<EngineError> => {
  const named = keys.slice(0, MOST).map(async (key) => {
    const type = await typeOf(key).catch(() => undefined)
    if (type === 'none') return []
    return [type === undefined ? quoted(key) : `${quoted(key)} (${plainText(type, LONGEST_TYPE)})`]
  })
  const there = (await Promise.all(named)).flat()
  const where = there.length === 0 ? '' : `; look at ${there.join(', ')}`
  return new EngineError(code, message + where, { target })
}
