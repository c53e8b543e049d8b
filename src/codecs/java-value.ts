import { show } from '../check-arguments.js'

/**
 * A value with the Java class it is to have, for the codec `'jackson'`: `new JavaValue('java.util.UUID', id)`, `new
 * JavaValue('java.math.BigDecimal', '1.10')`, `new JavaValue('[J', [1n, 2n])`. With `null`, no class is written: use it for a field
 * whose type Java knows, such as a `long` or an `int[]`.
 */
export class JavaValue {
  /** The name of its Java class; null if Java knows the class from the field. */
  readonly type: string | null
  /** A number, a bigint, a text, or a list of them. */
  readonly value: unknown

  constructor(type: string | null, value: unknown) {
    if (type !== null && (typeof type !== 'string' || !/^[\w.$[;]+$/.test(type)))
      throw new TypeError(`type must be the name of a Java class, or null, not ${show(type)}`)
    this.type = type
    this.value = value
  }

  /** For `JSON.stringify`: only the value. */
  toJSON(): unknown {
    return this.value
  }

  /** The value as text. */
  toString(): string {
    return String(this.value)
  }
}

/** How a number, a text or a boolean was written, and with which class; null if no class was written. */
export interface Written {
  readonly type: string | null
  readonly value: unknown
  /** The digits, if the value may have lost some. */
  readonly digits?: string | undefined
}

/** How a list or an object was written. */
export interface Origin {
  /** The class in front of it, as in `["java.util.TreeSet",[…]]`. */
  wrapper?: string | undefined
  /** The `@class` in it, if that is not among its fields. */
  type?: string | undefined
  /** How its numbers, texts and booleans were written, if that is not the default; by field name or index. */
  fields?: Map<string | number, Written> | undefined
}

/** How each value that was read was written, so that it is written back with the same Java classes. */
export const origins = new WeakMap<object, Origin>()

/** Whether a list of this class has items without a class in front of them. */
export const isPlainArray = (type: string | null | undefined): boolean =>
  type === null || type === undefined || /^\[+[BCDFIJSZ]$/.test(type)
