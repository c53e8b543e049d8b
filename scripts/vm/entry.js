// What the memory engine sees of the VM. A Lua value is a JavaScript value: nil is undefined, a string has one char
// per byte, null is the light userdata NULL; tables, functions and threads are objects.
import defs from 'fengari/src/defs.js'
import ldebug from 'fengari/src/ldebug.js'
import ldo from 'fengari/src/ldo.js'
import lobject from 'fengari/src/lobject.js'
import lstate from 'fengari/src/lstate.js'
import ltable from 'fengari/src/ltable.js'
import ltm from 'fengari/src/ltm.js'
import luaconf from 'fengari/src/luaconf.js'
import lvm from 'fengari/src/lvm.js'
import lzio from 'fengari/src/lzio.js'

const {
  LUA_TNIL,
  LUA_TBOOLEAN,
  LUA_TLIGHTUSERDATA,
  LUA_TNUMFLT,
  LUA_TLNGSTR,
  LUA_TTABLE,
  LUA_TLCF,
  LUA_TLCL,
  LUA_TTHREAD,
} = defs.constant_types
const { TValue } = lobject
const LUA_YIELD = defs.thread_status.LUA_YIELD

export const Table = ltable.Table
export const LuaFunction = lobject.LClosure
export const Thread = lstate.lua_State
export const numberToString = luaconf.lua_number2str
export const exponential = luaconf.exponential
export const stringToNumber = lobject.str2number
export const typeNames = ['nil', 'boolean', 'userdata', 'number', 'string', 'table', 'function', 'userdata', 'thread']

const load = (slot) => (slot.type === LUA_TNIL ? undefined : slot.value)

const objectType = (value) => {
  if (value === null) return LUA_TLIGHTUSERDATA
  if (value instanceof Table) return LUA_TTABLE
  return value instanceof LuaFunction ? LUA_TLCL : LUA_TTHREAD
}

const store = (slot, value) => {
  switch (typeof value) {
    case 'string':
      slot.type = LUA_TLNGSTR
      break
    case 'number':
      slot.type = LUA_TNUMFLT
      break
    case 'boolean':
      slot.type = LUA_TBOOLEAN
      break
    case 'function':
      slot.type = LUA_TLCF
      break
    case 'undefined':
      slot.type = LUA_TNIL
      slot.value = null
      return
    default:
      slot.type = objectType(value)
  }
  slot.value = value
}

const boxed = (value) => {
  const slot = new TValue(LUA_TNIL, null)
  store(slot, value)
  return slot
}

const push = (L, value) => {
  const slot = L.stack[L.top]
  if (slot === undefined) L.stack[L.top] = boxed(value)
  else store(slot, value)
  L.top++
}

const pushAll = (L, values) => {
  ldo.luaD_checkstack(L, values.length + 1)
  for (let i = 0; i < values.length; i++) push(L, values[i])
}

/** Takes the values from `from` to the top off the stack. */
const popFrom = (L, from) => {
  const values = new Array(L.top - from)
  for (let i = 0; i < values.length; i++) values[i] = load(L.stack[from + i])
  L.top = from
  return values
}

/** A function for scripts: it gets its arguments as an array; an array it returns is several values. */
export const native = (body) => (L) => {
  const from = L.ci.funcOff + 1
  const count = L.top - from
  const args = new Array(count)
  for (let i = 0; i < count; i++) {
    const slot = L.stack[from + i]
    args[i] = slot.type === LUA_TNIL ? undefined : slot.value
  }
  const result = body(L, args)
  if (!Array.isArray(result)) {
    push(L, result)
    return 1
  }
  pushAll(L, result)
  return result.length
}

export const newState = (onBudget) => {
  const L = lstate.lua_newstate()
  L.l_G.onbudget = onBudget
  L.l_G.budget = 0
  return L
}

/** Says what an operation costs, in steps such as a loop's; ends the script that has none left. */
export const spend = lvm.spend
export const takeText = ltable.taketext
export const takeBytes = ltable.take
/** How many bytes all scripts together may still take; `full` raises an error when there are none left. */
export const limitMemory = (room, full) => {
  ltable.meter.room = room
  ltable.meter.full = full
}

/** Brings a state back to its beginning after a JavaScript error went through it. */
export const resetState = (L) => {
  L.ci = L.base_ci
  L.top = L.base_ci.funcOff + 1
  L.nCcalls = 0
  L.nny = 1
  L.errfunc = 0
  L.errorJmp = null
  L.overflow = false
}

export const setStringMetatable = (L, table) => {
  L.l_G.mt[4] = table
}
export const typeMetatable = (L, value) => {
  if (value instanceof Table) return value.metatable
  return L.l_G.mt[boxed(value).ttnov()] ?? null
}
export const typeName = (value) => typeNames[boxed(value).ttnov()]

/** Compiles a chunk whose globals are `globals`; returns the function or the error's text. */
export const compile = (L, source, name, globals) => {
  const top = L.top
  const status = ldo.luaD_protectedparser(L, new lzio.ZIO(L, null, source), name, null)
  const value = load(L.stack[L.top - 1])
  L.top = top
  if (status === 0) store(value.upvals[0], globals)
  return value
}

export const call = (L, fn, args) => {
  ldo.luaD_checkstack(L, args.length + 2)
  const at = L.top
  push(L, fn)
  for (let i = 0; i < args.length; i++) push(L, args[i])
  ldo.luaD_callnoyield(L, at, -1)
  return popFrom(L, at)
}

const runCall = (L, at) => ldo.luaD_callnoyield(L, at, -1)

/** Calls a function and returns its values; or, when it raised an error, that error boxed in a Failure. */
export const protectedCall = (L, fn, args, handler) => {
  ldo.luaD_checkstack(L, args.length + 3)
  const top = L.top
  if (handler !== undefined) push(L, handler)
  const at = L.top
  push(L, fn)
  for (let i = 0; i < args.length; i++) push(L, args[i])
  const status = ldo.luaD_pcall(L, runCall, at, at, handler === undefined ? 0 : top)
  const values = popFrom(L, at)
  L.top = top
  return status === 0 ? values : new Failure(values[0])
}

export class Failure {
  constructor(value) {
    this.value = value
  }
}

export const raise = (L, value) => {
  ldo.luaD_checkstack(L, 2)
  push(L, value)
  ldebug.luaG_errormsg(L)
}

const isLua = (ci) => (ci.callstatus & lstate.CIST_LUA) !== 0

/** The call at a level, counted as in 5.1: every call that a tail call dropped is a level too ('tail'). */
export const frameAt = (L, level) => {
  let ci = L.ci
  for (; level > 0 && ci !== L.base_ci; ci = ci.previous) {
    level--
    if (isLua(ci)) level -= ci.tailcalls
  }
  if (level === 0 && ci !== L.base_ci) return ci
  return level < 0 ? 'tail' : null
}

export const frameInfo = (ci) => {
  if (ci === 'tail') return { what: 'tail', source: '=(tail call)', line: -1 }
  if (!isLua(ci)) return { what: 'C', source: '=[C]', line: -1 }
  return { what: 'Lua', source: ci.func.value.p.source, line: ldebug.currentline(ci) }
}

/** "source:line: " of the function at a level, or nothing. */
export const where = (L, level) => {
  const ci = frameAt(L, level)
  if (ci === null || ci === 'tail' || !isLua(ci)) return ''
  return `${lobject.luaO_chunkid(ci.func.value.p.source, 59)}:${ldebug.currentline(ci)}: `
}

/** How the running native function was called: its name and 'method', 'global', …; null when nothing tells. */
export const calledAs = (L) => {
  const known = ldebug.getfuncname(L, L.ci)
  return known === null ? null : { name: known.name, kind: known.funcname }
}

export const runError = (L, message) => ldebug.luaG_runerror(L, '%s', message)

// Tables, raw.
export const newTable = (L, slots = 0) => {
  const table = ltable.luaH_new()
  if (slots > 0) ltable.luaH_resizearray(table, slots)
  return table
}
export const rawGet = (L, table, key) => {
  if (typeof key === 'string') return load(ltable.luaH_getstr(table, key))
  if (typeof key === 'number') return load(ltable.luaH_getint(table, key))
  return load(ltable.luaH_get(L, table, boxed(key)))
}
export const rawSet = (L, table, key, value) => {
  if (table.readonly) ldebug.luaG_runerror(L, 'Attempt to modify a readonly table')
  ltable.luaH_setfrom(L, table, boxed(key), boxed(value))
}
export const rawLength = (table) => ltable.luaH_getn(table)

/** The key and value after `key`, or undefined at the end. */
export const next = (L, table, key) => {
  ldo.luaD_checkstack(L, 3)
  const at = L.top
  push(L, key)
  push(L, undefined)
  const more = ltable.luaH_next(L, table, at)
  L.top = at
  return more ? [load(L.stack[at]), load(L.stack[at + 1])] : undefined
}

// Operations that respect metatables.
export const index = (L, value, key) => {
  ldo.luaD_checkstack(L, 4)
  const at = L.top
  push(L, value)
  push(L, key)
  lvm.luaV_gettable(L, L.stack[at], L.stack[at + 1], at)
  L.top = at
  return load(L.stack[at])
}
export const setIndex = (L, value, key, element) => lvm.settable(L, boxed(value), boxed(key), boxed(element))
export const lessThan = (L, a, b) => lvm.luaV_lessthan(L, boxed(a), boxed(b)) === 1
export const metafield = (L, value, event) => {
  const meta = typeMetatable(L, value)
  return meta ? load(ltable.luaH_getstr(meta, event)) : undefined
}

// Coroutines.
export const newThread = (L, fn) => {
  ltable.take(4096)
  const thread = lstate.lua_newthread(L)
  L.top--
  push(thread, fn)
  return thread
}
export const yieldNow = (L) => ldo.lua_yield(L, L.top - (L.ci.funcOff + 1))

/** Resumes a thread; returns its values or a Failure. */
export const resume = (L, thread, args) => {
  pushAll(thread, args)
  const status = ldo.lua_resume(thread, L, args.length)
  if (status === 0 || status === LUA_YIELD) return popFrom(thread, thread.ci.funcOff + 1)
  thread.top--
  return new Failure(load(thread.stack[thread.top]))
}

export const threadStatus = (L, thread) => {
  if (L === thread) return 'running'
  if (thread.status === LUA_YIELD) return 'suspended'
  if (thread.status !== 0) return 'dead'
  if (thread.ci !== thread.base_ci) return 'normal'
  return thread.top === thread.base_ci.funcOff + 1 ? 'dead' : 'suspended'
}

export const isMainThread = (L) => L === L.l_G.mainthread
