import { show } from '../check-options.js'

/**
 * A value as Java shall have it, for the codec `'jackson'`: `new JavaValue('java.util.UUID', id)`,
 * `new JavaValue('java.math.BigDecimal', '1.10')`, `new JavaValue('[J', [1n, 2n])`. With `null` nothing says of what class it is: for
 * a field of which Java knows that, a `long` or an `int[]`.
 */
export class JavaValue {
  /** The name of its class in Java; null where Java knows it from the field. */
  readonly type: string | null
  /** A number, a bigint, a text, or a list of them. */
  readonly value: unknown

  constructor(type: string | null, value: unknown) {
    if (type !== null && (typeof type !== 'string' || !/^[\w.$[;]+$/.test(type)))
      throw new TypeError(`type must be the name of a Java class, or null, not ${show(type)}`)
    this.type = type
    this.value = value
  }

  /** For `JSON.stringify`: the value alone. */
  toJSON(): unknown {
    return this.value
  }

  /** The value as text. */
  toString(): string {
    return String(this.value)
  }
}

/** How a number, a text or a truth value was written: of which class, null where nothing said so. */
export interface Written {
  readonly type: string | null
  readonly value: unknown
  /** The digits, where the value may have lost some. */
  readonly digits?: string | undefined
}

/** How a list or an object was written. */
export interface Origin {
  /** The class before it, as in `["java.util.TreeSet",[…]]`. */
  wrapper?: string | undefined
  /** The `@class` in it, where that is not among its fields. */
  type?: string | undefined
  /** What its numbers, texts and truth values were, if that is not what they look like; by name or place. */
  fields?: Map<string | number, Written> | undefined
}

/** Of what was read: so that it is written again as Java knows it. */
export const origins = new WeakMap<object, Origin>()

/** Whose items have no class before them. */
export const isPlainArray = (type: string | null | undefined): boolean =>
  type === null || type === undefined || /^\[+[BCDFIJSZ]$/.test(type)
