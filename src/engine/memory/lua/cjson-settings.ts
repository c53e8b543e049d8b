import { argumentError, checkInteger, checkString } from './arguments.js'
import type { LuaValue, NativeBody, Thread } from './vm.gen.js'

/** The settings of cjson that a script can change. As on the server, a change stays until the next one. */
export interface CjsonSettings {
  encodeMaxDepth: number
  decodeMaxDepth: number
  encodeInvalidNumbers: number
  decodeInvalidNumbers: number
  keepBuffer: number
  precision: number
  sparseConvert: number
  sparseRatio: number
  sparseSafe: number
}

export const newSettings = (): CjsonSettings => ({
  encodeMaxDepth: 1000,
  decodeMaxDepth: 1000,
  encodeInvalidNumbers: 0,
  decodeInvalidNumbers: 1,
  keepBuffer: 1,
  precision: 14,
  sparseConvert: 0,
  sparseRatio: 2,
  sparseSafe: 10,
})

const INT_MAX = 0x7fffffff

const checkCount = (L: Thread, args: LuaValue[], most: number): void => {
  if (args.length > most) argumentError(L, most + 1, 'found too many arguments')
}

const integer = (L: Thread, args: LuaValue[], at: number, now: number, min: number, max: number): number => {
  if (args[at - 1] === undefined) return now
  const value = checkInteger(L, args, at)
  if (value < min || value > max) argumentError(L, at, `expected integer between ${min} and ${max}`)
  return value
}

const choice = (L: Thread, args: LuaValue[], at: number, now: number, options: readonly string[]): number => {
  const value = args[at - 1]
  if (value === undefined) return now
  if (typeof value === 'boolean') return value ? 1 : 0
  const text = checkString(L, args, at)
  const index = options.indexOf(text)
  return index < 0 ? argumentError(L, at, `invalid option '${text}'`) : index
}

const shown = (value: number, options: readonly string[]): LuaValue => (value < 2 ? value === 1 : options[value])

const ON_OFF = ['off', 'on']
const ON_OFF_NULL = ['off', 'on', 'null']

type Key = keyof CjsonSettings

const integerOption =
  (settings: CjsonSettings, key: Key, min: number, max: number): NativeBody =>
  (L, args) => {
    checkCount(L, args, 1)
    settings[key] = integer(L, args, 1, settings[key], min, max)
    return settings[key]
  }

const choiceOption =
  (settings: CjsonSettings, key: Key, options: readonly string[]): NativeBody =>
  (L, args) => {
    checkCount(L, args, 1)
    settings[key] = choice(L, args, 1, settings[key], options)
    return shown(settings[key], options)
  }

const sparseArray =
  (settings: CjsonSettings): NativeBody =>
  (L, args) => {
    checkCount(L, args, 3)
    settings.sparseConvert = choice(L, args, 1, settings.sparseConvert, ON_OFF)
    settings.sparseRatio = integer(L, args, 2, settings.sparseRatio, 0, INT_MAX)
    settings.sparseSafe = integer(L, args, 3, settings.sparseSafe, 0, INT_MAX)
    return [shown(settings.sparseConvert, ON_OFF), settings.sparseRatio, settings.sparseSafe]
  }

export const settingFunctions = (settings: CjsonSettings): Record<string, NativeBody> => ({
  encode_sparse_array: sparseArray(settings),
  encode_max_depth: integerOption(settings, 'encodeMaxDepth', 1, INT_MAX),
  decode_max_depth: integerOption(settings, 'decodeMaxDepth', 1, INT_MAX),
  encode_number_precision: integerOption(settings, 'precision', 1, 14),
  encode_keep_buffer: choiceOption(settings, 'keepBuffer', ON_OFF),
  encode_invalid_numbers: choiceOption(settings, 'encodeInvalidNumbers', ON_OFF_NULL),
  decode_invalid_numbers: choiceOption(settings, 'decodeInvalidNumbers', ON_OFF),
})
