import type { Arg, Reply } from './values.js'

/**
 * Checks the form of a reply. A client library, a proxy or an open MULTI may answer with something else, and only expected replies
 * may be trusted. `sent`: the command, which decides how long some lists are.
 */
export type Shape<R> = (reply: unknown, sent: readonly Arg[]) => reply is R

/** A larger number in JavaScript may differ from the server's. */
export const integer = (reply: unknown): reply is number => Number.isSafeInteger(reply)

export const text = (reply: unknown): reply is string => typeof reply === 'string'

/** A number that is sent as text. */
export const digits = (reply: unknown): reply is string => typeof reply === 'string' && /^\d{1,19}$/.test(reply)

export const nil = (reply: unknown): reply is null => reply === null

export const list = (reply: unknown): reply is readonly Reply[] => Array.isArray(reply)

/** A user's script may answer with anything. */
export const anything = (_reply: unknown): _reply is Reply => true

/** Exactly one text or number. */
export const just =
  <const V extends string | number>(value: V): Shape<V> =>
  (reply): reply is V =>
    reply === value

export const either =
  <A, B>(one: Shape<A>, other: Shape<B>): Shape<A | B> =>
  (reply, sent): reply is A | B =>
    one(reply, sent) || other(reply, sent)

export const many =
  <R>(item: Shape<R>): Shape<readonly R[]> =>
  (reply, sent): reply is readonly R[] =>
    Array.isArray(reply) && reply.every((one) => item(one, sent))

/** Names and values, alternating. */
export const pairs = (reply: unknown): reply is readonly string[] =>
  Array.isArray(reply) && reply.length % 2 === 0 && reply.every(text)

/** One item for every `each` arguments of a script, counted from ARGV[`from`]. */
export const oneFor =
  <R>(item: Shape<R>, from: number, each: number): Shape<readonly R[]> =>
  (reply, sent): reply is readonly R[] => {
    // EVALSHA, the script, the number of its keys, those keys
    const first = 3 + Number(sent[2]) + from - 1
    return Array.isArray(reply) && reply.length * each === sent.length - first && reply.every((one) => item(one, sent))
  }

export const tuple =
  <T extends readonly unknown[]>(...items: { readonly [I in keyof T]: Shape<T[I]> }): Shape<Readonly<T>> =>
  (reply, sent): reply is Readonly<T> =>
    Array.isArray(reply) && reply.length === items.length && items.every((item, i) => item(reply[i], sent))
