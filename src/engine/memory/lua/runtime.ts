import { baseLibrary } from './base-library.js'
import { bitLibrary } from './bit-library.js'
import { newCjson } from './cjson-library.js'
import { cmsgpackConstants, cmsgpackLibrary } from './cmsgpack-library.js'
import { coroutineLibrary } from './coroutine-library.js'
import { mathConstants, mathLibrary } from './math-library.js'
import { Random } from './random.js'
import { redisConstants, redisLibrary } from './redis-library.js'
import { errorText, luaToReply } from './reply-values.js'
import { errorHandler, scriptError } from './script-error.js'
import { ScriptLimits, Stopped } from './script-limits.js'
import { withoutShebang } from './shebang.js'
import { stringLibrary } from './string-library.js'
import { structLibrary } from './struct-library.js'
import { tableLibrary } from './table-library.js'
import * as vm from './vm.gen.js'
import { Failure } from './vm.gen.js'
import type { Clock } from '../../../base/clock.js'
import { ReplyError } from '../reply.js'
import type { LuaFunction, LuaValue, NativeBody, Table, Thread } from './vm.gen.js'
import type { Bytes, Reply, ScriptHost } from '../reply.js'

const CHUNK_NAME = '@user_script'

/** Runs Redis Lua scripts. Each server has one interpreter, which caches compiled scripts by their text. */
export class ScriptRuntime {
  readonly #L: Thread
  readonly #globals: Table
  readonly #chunks = new Map<Bytes, LuaFunction>()
  readonly #random = new Random()
  readonly #limits: ScriptLimits

  constructor(
    readonly host: ScriptHost,
    clock: Clock,
  ) {
    this.#limits = new ScriptLimits(clock)
    this.#L = vm.newState(this.#limits.count)
    this.#globals = vm.newTable(this.#L)
    this.#openLibraries()
    this.#protectGlobals()
  }

  /** Compiles a script unless it is known. An error is returned. */
  check(source: Bytes): ReplyError | undefined {
    const chunk = this.#chunks.get(source) ?? this.#compile(source)
    return chunk instanceof ReplyError ? chunk : undefined
  }

  /** Runs a script like EVAL, and converts its result like Redis. An error is returned as a ReplyError with the text of Redis 7. */
  run(source: Bytes, sha: string, keys: readonly Bytes[], argv: readonly Bytes[]): Reply {
    const chunk = this.#chunks.get(source) ?? this.#compile(source)
    if (chunk instanceof ReplyError) return chunk
    this.#limits.begin()
    this.#setGlobal('KEYS', this.#list(keys))
    this.#setGlobal('ARGV', this.#list(argv))
    try {
      const result = vm.protectedCall(this.#L, chunk, [], errorHandler)
      return result instanceof Failure ? scriptError(this.#L, result.value, sha) : luaToReply(this.#L, result[0])
    } catch (error) {
      vm.resetState(this.#L)
      if (error instanceof Stopped) return new ReplyError(error.message)
      // A script can overflow JavaScript's own stack, for example with a pattern. That must not crash the server.
      if (error instanceof RangeError) {
        const what = error.message.includes('stack') ? 'stack overflow' : 'not enough memory'
        return new ReplyError(`ERR ${what} script: ${sha}, on @user_script:0.`)
      }
      throw error
    } finally {
      this.#limits.end()
    }
  }

  #compile(source: Bytes): LuaFunction | ReplyError {
    const body = withoutShebang(source)
    if (body instanceof ReplyError) return body
    const chunk = vm.compile(this.#L, body, CHUNK_NAME, this.#globals)
    if (typeof chunk === 'string')
      return new ReplyError(errorText(`ERR Error compiling script (new function): ${chunk}`))
    this.#chunks.set(source, chunk)
    return chunk
  }

  #list(values: readonly Bytes[]): Table {
    const table = vm.newTable(this.#L)
    for (let i = 0; i < values.length; i++) vm.rawSet(this.#L, table, i + 1, values[i])
    return table
  }

  #setGlobal(name: string, value: LuaValue): void {
    this.#globals.readonly = false
    vm.rawSet(this.#L, this.#globals, name, value)
    this.#globals.readonly = true
  }

  #openLibraries(): void {
    this.#define(this.#globals, baseLibrary(this.#globals))
    this.#setGlobal('_G', this.#globals)
    this.#setGlobal('_VERSION', 'Lua 5.1')
    this.#setGlobal('__redis__err__handler', errorHandler)
    const strings = this.#library('string', stringLibrary)
    const meta = vm.newTable(this.#L)
    vm.rawSet(this.#L, meta, '__index', strings)
    meta.readonly = true
    vm.setStringMetatable(this.#L, meta)
    this.#library('table', tableLibrary)
    this.#library('math', mathLibrary(this.#random), mathConstants)
    this.#library('coroutine', {}, coroutineLibrary)
    this.#library('bit', bitLibrary)
    this.#library('struct', structLibrary)
    this.#library('cmsgpack', cmsgpackLibrary, cmsgpackConstants)
    const cjson = newCjson(this.#L)
    cjson.readonly = true
    this.#setGlobal('cjson', cjson)
    this.#library(
      'redis',
      redisLibrary(this.host, () => this.#limits.checkTime()),
      redisConstants,
    )
  }

  #library(name: string, bodies: Record<string, NativeBody>, values: Record<string, LuaValue> = {}): Table {
    const table = vm.newTable(this.#L)
    this.#define(table, bodies)
    for (const [key, value] of Object.entries(values)) vm.rawSet(this.#L, table, key, value)
    table.readonly = true
    this.#setGlobal(name, table)
    return table
  }

  #define(table: Table, bodies: Record<string, NativeBody>): void {
    for (const [name, body] of Object.entries(bodies)) vm.rawSet(this.#L, table, name, vm.native(body))
  }

  #protectGlobals(): void {
    const meta = vm.newTable(this.#L)
    const missing: NativeBody = (L, args) => {
      const name = typeof args[1] === 'string' ? args[1] : vm.typeName(args[1])
      return vm.raise(L, `${vm.where(L, 1)}Script attempted to access nonexistent global variable '${name}'`)
    }
    vm.rawSet(this.#L, meta, '__index', vm.native(missing))
    meta.readonly = true
    this.#globals.metatable = meta
    this.#globals.readonly = true
  }
}
