import { atExpense, type Charge } from '../command-cost.js'
import { NOTHING, spendText, toNumber } from './arguments.js'
import { errorTable, replyToLua } from './reply-values.js'
import { formatGeneral } from './number-format.js'
import { sha1 } from './sha1.js'
import { numberToString, raise, rawSet, newTable, spend, takeBytes } from './vm.gen.js'
import type { ScriptHost } from '../reply.js'
import type { LuaValue, NativeBody, Thread } from './vm.gen.js'

const VERSION = '7.0.15'
const VERSION_NUMBER = 0x0007000f

/** The cost of a command, in loop steps. */
const COMMAND = 50

const raiseText = (L: Thread, text: string): never => raise(L, errorTable(L, text))

/** Keeps strings, and prints integers in full; any other value makes the call invalid. */
const commandArguments = (args: readonly LuaValue[]): string[] | undefined => {
  const argv = new Array<string>(args.length)
  for (let i = 0; i < args.length; i++) {
    const value = args[i]
    if (typeof value === 'string') argv[i] = value
    else if (typeof value === 'number')
      argv[i] = Number.isSafeInteger(value) && (value !== 0 || 1 / value > 0) ? String(value) : formatGeneral(value, 17)
    else return undefined
  }
  return argv
}

/** `checkTime` throws when the script's time is over: no count of steps says how long a command takes on this machine. */
const call = (host: ScriptHost, checkTime: () => void, raises: boolean): NativeBody => {
  let caller: Thread
  const charge: Charge = (steps, bytes) => {
    if (bytes > 0) takeBytes(bytes)
    spend(caller, steps)
  }
  return (L, args) => {
    const argv = commandArguments(args)
    let result: LuaValue
    if (args.length === 0) result = errorTable(L, 'Please specify at least one argument for this redis lib call')
    else if (!argv) result = errorTable(L, 'Lua redis lib command arguments must be strings or integers')
    else {
      for (const word of argv) spendText(L, word)
      spend(L, COMMAND + argv.length)
      caller = L
      const reply = atExpense(charge, () => host.call(argv))
      checkTime()
      if (typeof reply === 'number' || typeof reply === 'string') return reply
      result = replyToLua(L, reply)
      if (!(reply instanceof Error)) return result
    }
    return raises ? raise(L, result) : result
  }
}

const errorReply: NativeBody = (L, args) => {
  const text = args[0]
  if (args.length !== 1 || typeof text !== 'string') return errorTable(L, 'wrong number or type of arguments')
  return errorTable(L, text.startsWith('-') ? text : `-${text}`)
}

const statusReply: NativeBody = (L, args) => {
  if (args.length !== 1 || typeof args[0] !== 'string') return errorTable(L, 'wrong number or type of arguments')
  const table = newTable(L)
  rawSet(L, table, 'ok', args[0])
  return table
}

const sha1hex: NativeBody = (L, args) => {
  if (args.length !== 1) return raiseText(L, 'wrong number of arguments')
  const value = args[0]
  const text = typeof value === 'number' ? numberToString(value) : typeof value === 'string' ? value : ''
  spend(L, text.length >> 3)
  return sha1(text)
}

const log =
  (host: ScriptHost): NativeBody =>
  (L, args) => {
    if (args.length < 2) return raiseText(L, 'redis.log() requires two arguments or more.')
    const level = args[0]
    if (toNumber(level) === undefined) return raiseText(L, 'First argument must be a number (log level).')
    const number = Math.trunc(toNumber(level) ?? 0)
    if (number < 0 || number > 3) return raiseText(L, 'Invalid debug level.')
    const parts = args.slice(1).filter((part) => typeof part === 'string' || typeof part === 'number')
    host.log?.(number, parts.map((part) => (typeof part === 'number' ? numberToString(part) : part)).join(' '))
    return NOTHING
  }

const setresp: NativeBody = (L, args) => {
  if (args.length !== 1) return raiseText(L, 'redis.setresp() requires one argument.')
  const version = Math.trunc(toNumber(args[0]) ?? 0)
  if (version === 3) return raiseText(L, "memory: does not support 'redis.setresp(3)'; its replies are those of RESP2.")
  return version === 2 ? NOTHING : raiseText(L, 'RESP version must be 2 or 3.')
}

const setRepl: NativeBody = (L, args) => {
  if (args.length !== 1) return raiseText(L, 'redis.set_repl() requires two arguments.')
  const flags = Math.trunc(toNumber(args[0]) ?? 0)
  if ((flags & ~3) !== 0) {
    return raiseText(L, 'Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.')
  }
  return NOTHING
}

/** This server has no users with restricted permissions, so any existing command may be called. */
const aclCheckCommand =
  (host: ScriptHost): NativeBody =>
  (L, args) => {
    const argv = commandArguments(args)
    if (args.length === 0) return raiseText(L, 'Please specify at least one argument for this redis lib call')
    if (!argv) return raiseText(L, 'Lua redis lib command arguments must be strings or integers')
    const known = host.call(['COMMAND', 'INFO', argv[0] ?? ''])
    const missing = Array.isArray(known) && known.length === 1 && known[0] === null
    return missing ? raiseText(L, 'Invalid command passed to redis.acl_check_cmd()') : true
  }

export const redisConstants: Record<string, LuaValue> = {
  LOG_DEBUG: 0, LOG_VERBOSE: 1, LOG_NOTICE: 2, LOG_WARNING: 3,
  REPL_NONE: 0, REPL_AOF: 1, REPL_SLAVE: 2, REPL_REPLICA: 2, REPL_ALL: 3,
  REDIS_VERSION: VERSION, REDIS_VERSION_NUM: VERSION_NUMBER,
} // prettier-ignore

export const redisLibrary = (host: ScriptHost, checkTime: () => void): Record<string, NativeBody> => ({
  call: call(host, checkTime, true),
  pcall: call(host, checkTime, false),
  error_reply: errorReply,
  status_reply: statusReply,
  sha1hex,
  log: log(host),
  setresp,
  set_repl: setRepl,
  replicate_commands: () => true,
  breakpoint: () => false,
  debug: () => NOTHING,
  acl_check_cmd: aclCheckCommand(host),
})
