import { argumentError, checkString, fail, made } from './arguments.js'
import { CjsonDecoder } from './cjson-decoder.js'
import { CjsonEncoder } from './cjson-encoder.js'
import { newSettings, settingFunctions } from './cjson-settings.js'
import { native, newTable, rawSet, spend } from './vm.gen.js'
import type { LuaValue, NativeBody, Table, Thread } from './vm.gen.js'

const functions = (): Record<string, NativeBody> => {
  const settings = newSettings()
  return {
    ...settingFunctions(settings),
    encode: (L, args) => {
      if (args.length !== 1) return argumentError(L, 1, 'expected 1 argument')
      return made(L, new CjsonEncoder(L, settings).encode(args[0], 0))
    },
    decode: (L, args) => {
      if (args.length !== 1) return argumentError(L, 1, 'expected 1 argument')
      const text = checkString(L, args, 1)
      spend(L, text.length >> 2)
      if (text.length >= 2 && (text.startsWith('\0') || text[1] === '\0')) {
        return fail(L, 'JSON parser does not support UTF-16 or UTF-32')
      }
      return new CjsonDecoder(L, text, settings).decode()
    },
    new: (L) => newCjson(L),
  }
}

const constants: Record<string, LuaValue> = { null: null, _NAME: 'cjson', _VERSION: '2.1.0' }

/** A cjson module with its own settings. */
export const newCjson = (L: Thread): Table => {
  const table = newTable(L)
  for (const [name, body] of Object.entries(functions())) rawSet(L, table, name, native(body))
  for (const [name, value] of Object.entries(constants)) rawSet(L, table, name, value)
  return table
}
