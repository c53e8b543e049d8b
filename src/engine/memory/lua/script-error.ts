import { toText } from './base-library.js'
import { errorText } from './reply-values.js'
import * as vm from './vm.gen.js'
import { Table } from './vm.gen.js'
import { ReplyError } from '../reply.js'
import type { LuaValue, Thread } from './vm.gen.js'

interface Place {
  readonly source: string
  readonly line: number
}

/** The place where an error was raised: in the function itself, or in its caller if it is a native function. */
const placeOfError = (L: Thread): Place | undefined => {
  let frame = vm.frameAt(L, 1)
  if (frame !== null && vm.frameInfo(frame).what === 'C') frame = vm.frameAt(L, 2)
  return frame === null ? undefined : vm.frameInfo(frame)
}

const asTable = (L: Thread, value: LuaValue): Table => {
  if (value instanceof Table) return value
  const table = vm.newTable(L)
  const text = toText(L, value)
  vm.rawSet(L, table, 'err', `ERR ${typeof text === 'string' ? text : vm.typeName(text)}`)
  return table
}

/** The message handler of every script. It turns any error into a table that says what was raised, and where. */
export const errorHandler = vm.native((L, args) => {
  const place = placeOfError(L)
  const table = asTable(L, args[0])
  if (place) {
    vm.rawSet(L, table, 'source', place.source)
    vm.rawSet(L, table, 'line', place.line)
  }
  return table
})

const textOf = (value: LuaValue): string | undefined => {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? vm.numberToString(value) : undefined
}

const untilZero = (text: string): string => {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** The reply to a failed script, from the error that the handler returned. */
export const scriptError = (L: Thread, value: LuaValue, sha: string): ReplyError => {
  if (!(value instanceof Table))
    return new ReplyError(errorText(`ERR Error running script ${sha}, ${textOf(value) ?? ''}`))
  // Without a text, the server itself crashes.
  const message = untilZero(textOf(vm.rawGet(L, value, 'err')) ?? 'ERR unknown error')
  const source = textOf(vm.rawGet(L, value, 'source'))
  const line = textOf(vm.rawGet(L, value, 'line'))
  const place = source === undefined || line === undefined ? '' : ` script: ${sha}, on ${source}:${line}.`
  return new ReplyError(errorText(message + place))
}
