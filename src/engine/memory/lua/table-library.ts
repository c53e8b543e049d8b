import {
  checkInt,
  checkTable,
  fail,
  joined,
  made,
  NOTHING,
  optionalInt,
  optionalString,
  spendText,
  typeError,
} from './arguments.js'
import * as vm from './vm.gen.js'
import { LuaFunction, rawGet, rawLength, rawSet, spend } from './vm.gen.js'
import type { LuaValue, NativeBody, Table, Thread } from './vm.gen.js'

const concat: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  const separator = optionalString(L, args, 2, '')
  const from = optionalInt(L, args, 3, 1)
  const to = args[3] === undefined ? rawLength(table) : checkInt(L, args, 4)
  let text = ''
  for (let i = from; i <= to; i++) {
    spend(L, 1)
    const value = rawGet(L, table, i)
    if (typeof value === 'string') text = joined(L, text, value)
    else if (typeof value === 'number') text = joined(L, text, vm.numberToString(value))
    else return fail(L, `invalid value (${vm.typeName(value)}) at index ${i} in table for 'concat'`)
    if (i < to) text = joined(L, text, separator)
  }
  return made(L, text)
}

const insert: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  let end = rawLength(table) + 1
  if (args.length === 2) rawSet(L, table, end, args[1])
  else if (args.length === 3) {
    const at = checkInt(L, args, 2)
    if (at > end) end = at
    spend(L, Math.max(0, end - at) >> 1)
    for (let i = end; i > at; i--) rawSet(L, table, i, rawGet(L, table, i - 1))
    rawSet(L, table, at, args[2])
  } else return fail(L, "wrong number of arguments to 'insert'")
  return NOTHING
}

const remove: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  const end = rawLength(table)
  const at = optionalInt(L, args, 2, end)
  if (!(at >= 1 && at <= end)) return NOTHING
  const value = rawGet(L, table, at)
  spend(L, (end - at) >> 1)
  for (let i = at; i < end; i++) rawSet(L, table, i, rawGet(L, table, i + 1))
  rawSet(L, table, end, undefined)
  return value
}

const maxn: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  let most = 0
  for (let pair = vm.next(L, table, undefined); pair; pair = vm.next(L, table, pair[0])) {
    spend(L, 1)
    if (typeof pair[0] === 'number' && pair[0] > most) most = pair[0]
  }
  return most
}

const checkFunction = (L: Thread, args: LuaValue[], at: number): LuaValue => {
  const value = args[at - 1]
  return typeof value === 'function' || value instanceof LuaFunction ? value : typeError(L, args, at, 'function')
}

const foreach: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  const visit = checkFunction(L, args, 2)
  for (let pair = vm.next(L, table, undefined); pair; pair = vm.next(L, table, pair[0])) {
    spend(L, 1)
    const result = vm.call(L, visit, pair)[0]
    if (result !== undefined) return result
  }
  return NOTHING
}

const foreachi: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  const length = rawLength(table)
  const visit = checkFunction(L, args, 2)
  for (let i = 1; i <= length; i++) {
    spend(L, 1)
    const result = vm.call(L, visit, [i, rawGet(L, table, i)])[0]
    if (result !== undefined) return result
  }
  return NOTHING
}

/** Lua 5.1's quicksort, step by step: with an inconsistent order function it must fail in the same way. */
class Sorter {
  readonly #L: Thread
  readonly #table: Table
  readonly #order: LuaValue

  constructor(L: Thread, table: Table, order: LuaValue) {
    this.#L = L
    this.#table = table
    this.#order = order
  }

  sort(from: number, to: number): void {
    let lo = from
    let up = to
    while (lo < up) {
      this.#order2(lo, up)
      if (up - lo === 1) break
      const middle = Math.floor((lo + up) / 2)
      if (this.#less(this.#get(middle), this.#get(lo))) this.#swap(middle, lo)
      else if (this.#less(this.#get(up), this.#get(middle))) this.#swap(middle, up)
      if (up - lo === 2) break
      const pivot = this.#get(middle)
      this.#swap(middle, up - 1)
      const i = this.#partition(lo, up, pivot)
      if (i - lo < up - i) {
        this.sort(lo, i - 1)
        lo = i + 1
      } else {
        this.sort(i + 1, up)
        up = i - 1
      }
    }
  }

  #partition(lo: number, up: number, pivot: LuaValue): number {
    let i = lo
    let j = up - 1
    for (;;) {
      while (this.#less(this.#get(++i), pivot)) if (i > up) fail(this.#L, 'invalid order function for sorting')
      while (this.#less(pivot, this.#get(--j))) if (j < lo) fail(this.#L, 'invalid order function for sorting')
      if (j < i) break
      this.#swap(i, j)
    }
    this.#swap(up - 1, i)
    return i
  }

  #order2(lo: number, up: number): void {
    if (this.#less(this.#get(up), this.#get(lo))) this.#swap(lo, up)
  }

  #get(i: number): LuaValue {
    return rawGet(this.#L, this.#table, i)
  }

  #swap(i: number, j: number): void {
    const first = this.#get(i)
    rawSet(this.#L, this.#table, i, this.#get(j))
    rawSet(this.#L, this.#table, j, first)
  }

  #less(a: LuaValue, b: LuaValue): boolean {
    spend(this.#L, 1)
    if (typeof a === 'string') spendText(this.#L, a)
    if (this.#order === undefined) return vm.lessThan(this.#L, a, b)
    const result = vm.call(this.#L, this.#order, [a, b])[0]
    return result !== undefined && result !== false
  }
}

const sort: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  const length = rawLength(table)
  const order = args[1] === undefined ? undefined : checkFunction(L, args, 2)
  new Sorter(L, table, order).sort(1, length)
  return NOTHING
}

export const tableLibrary: Record<string, NativeBody> = {
  concat,
  foreach,
  foreachi,
  getn: (L, args) => rawLength(checkTable(L, args, 1)),
  insert,
  maxn,
  remove,
  setn: (L, args) => {
    checkTable(L, args, 1)
    return fail(L, "'setn' is obsolete")
  },
  sort,
}
