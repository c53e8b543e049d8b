import { systemClock } from '../base/clock.js'
import { EngineError } from '../errors.js'
import { plainText, quoted } from '../plain-text.js'
import type { Arg } from '../lua/values.js'

/** How many keys an error names. */
const MOST = 12
const LONGEST_TYPE = 30

/** The key of a read, which shows the secret name of its owner. */
const HAS_OWNER = /:rwlock_timeout(?::\d+)?$/

/** The keys of a command, as far as they are known: those of a script, else the one that decides its node. */
export const keysOf = ([command, , count, ...rest]: readonly Arg[], route: string | undefined): readonly string[] => {
  if (String(command).startsWith('EVAL')) {
    const keys = rest.slice(0, Number(count)).map(String)
    return [...new Set(keys)].filter((key) => !HAS_OWNER.test(key))
  }
  return route === undefined ? [] : [route]
}

/** Those of a command's keys that exist, and their types, for its error. `typeOf` asks for one; without an answer, the key is named without its type. */
const placesOf = async (keys: readonly string[], typeOf: (key: string) => Promise<string>): Promise<string> => {
  const named = keys.slice(0, MOST).map(async (key) => {
    const type = await typeOf(key).catch(() => undefined)
    if (type === 'none') return []
    return [type === undefined ? quoted(key) : `${quoted(key)} (${plainText(type, LONGEST_TYPE)})`]
  })
  const there = (await Promise.all(named)).flat()
  return there.length === 0 ? '' : `; look at ${there.join(', ')}`
}

/** How long an answer is used again, ms, and for how many commands: a busy limiter at a foreign key must not ask for each request. */
const AGAIN = 1000
const KNOWN = 100

/** Adds to the error of a command that found something else in one of its keys which keys exist, and their types. */
export class NameKeys {
  readonly #known = new Map<string, { readonly at: number; readonly places: Promise<string> }>()

  async of(
    { code, message, target }: EngineError,
    keys: readonly string[],
    typeOf: (key: string) => Promise<string>,
  ): Promise<EngineError> {
    return new EngineError(code, message + (await this.#places(keys, typeOf)), { target })
  }

  #places(keys: readonly string[], typeOf: (key: string) => Promise<string>): Promise<string> {
    const [which, now] = [keys.join(' '), systemClock.monotonic()]
    const known = this.#known.get(which)
    if (known !== undefined && now - known.at < AGAIN) return known.places
    if (this.#known.size >= KNOWN) this.#known.clear()
    const places = placesOf(keys, typeOf)
    this.#known.set(which, { at: now, places })
    return places
  }
}
