/** The bundled VM (see scripts/build-vm.mjs). nil is undefined; null is the light userdata NULL. */
export type LuaValue = undefined | null | boolean | number | string | Table | LuaFunction | NativeFunction | Thread

export class Table {
  metatable: Table | null
  readonly: boolean
  flags: number
}
export class LuaFunction {
  readonly nupvalues: number
  private constructor()
}
export class Thread {
  private constructor()
}
export class Failure {
  constructor(value?: LuaValue)
  readonly value: LuaValue
}
export type NativeFunction = (L: Thread) => number
export type NativeBody = (L: Thread, args: LuaValue[]) => LuaValue | LuaValue[]
export interface Frame {
  readonly __frame: never
}

export const native: (body: NativeBody) => NativeFunction
/** `onBudget` is given what was spent beyond the budget. */
export const newState: (onBudget?: (deficit: number) => number) => Thread
export const spend: (L: Thread, steps: number) => void
export const takeText: (text: string) => void
export const takeBytes: (bytes: number) => void
export const limitMemory: (room: number, full?: () => never) => void
export const resetState: (L: Thread) => void
export const setStringMetatable: (L: Thread, table: Table) => void
export const typeMetatable: (L: Thread, value: LuaValue) => Table | null
export const typeName: (value: LuaValue) => string
export const numberToString: (n: number) => string
/** toExponential, rounding ties to even as C does. */
export const exponential: (n: number, digits: number) => string
export const stringToNumber: (text: string) => number | false
export const compile: (L: Thread, source: string, name: string, globals: Table) => LuaFunction | string
export const call: (L: Thread, fn: LuaValue, args: LuaValue[]) => LuaValue[]
export const protectedCall: (L: Thread, fn: LuaValue, args: LuaValue[], handler?: LuaValue) => LuaValue[] | Failure
export const raise: (L: Thread, value: LuaValue) => never
export const frameAt: (L: Thread, level: number) => Frame | 'tail' | null
export const frameInfo: (frame: Frame | 'tail') => { what: string; source: string; line: number }
export const where: (L: Thread, level: number) => string
export const calledAs: (L: Thread) => { name: string; kind: string } | null
export const runError: (L: Thread, message: string) => never

export const newTable: (L: Thread, slots?: number) => Table
export const rawGet: (L: Thread, table: Table, key: LuaValue) => LuaValue
export const rawSet: (L: Thread, table: Table, key: LuaValue, value: LuaValue) => void
export const rawLength: (table: Table) => number
export const next: (L: Thread, table: Table, key: LuaValue) => [LuaValue, LuaValue] | undefined
export const index: (L: Thread, value: LuaValue, key: LuaValue) => LuaValue
export const setIndex: (L: Thread, value: LuaValue, key: LuaValue, element: LuaValue) => void
export const lessThan: (L: Thread, a: LuaValue, b: LuaValue) => boolean
export const metafield: (L: Thread, value: LuaValue, event: string) => LuaValue

export const newThread: (L: Thread, fn: LuaValue) => Thread
export const yieldNow: NativeFunction
export const isMainThread: (L: Thread) => boolean
export const resume: (L: Thread, thread: Thread, args: LuaValue[]) => LuaValue[] | Failure
export const threadStatus: (L: Thread, thread: Thread) => 'running' | 'suspended' | 'normal' | 'dead'
