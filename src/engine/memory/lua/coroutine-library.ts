import { argumentError } from './arguments.js'
import * as vm from './vm.gen.js'
import { Failure, LuaFunction, Thread } from './vm.gen.js'
import type { LuaValue, NativeBody, NativeFunction } from './vm.gen.js'

const checkThread = (L: Thread, args: LuaValue[]): Thread => {
  const value = args[0]
  return value instanceof Thread ? value : argumentError(L, 1, 'coroutine expected')
}

const resume = (L: Thread, thread: Thread, args: LuaValue[]): LuaValue[] | Failure => {
  const status = vm.threadStatus(L, thread)
  return status === 'suspended' ? vm.resume(L, thread, args) : new Failure(`cannot resume ${status} coroutine`)
}

const create: NativeBody = (L, args) =>
  args[0] instanceof LuaFunction ? vm.newThread(L, args[0]) : argumentError(L, 1, 'Lua function expected')

const wrap: NativeBody = (L, args) => {
  const thread = create(L, args) as Thread
  return vm.native((caller, values) => {
    const result = resume(caller, thread, values)
    if (!(result instanceof Failure)) return result
    return vm.raise(caller, typeof result.value === 'string' ? vm.where(caller, 1) + result.value : result.value)
  })
}

const library: Record<string, NativeBody> = {
  create,
  resume: (L, args) => {
    const thread = checkThread(L, args)
    const result = resume(L, thread, args.slice(1))
    return result instanceof Failure ? [false, result.value] : [true, ...result]
  },
  running: (L) => (vm.isMainThread(L) ? undefined : L),
  status: (L, args) => vm.threadStatus(L, checkThread(L, args)),
  wrap,
}

export const coroutineLibrary: Record<string, NativeFunction> = {
  ...Object.fromEntries(Object.entries(library).map(([name, body]) => [name, vm.native(body)])),
  yield: vm.yieldNow,
}
