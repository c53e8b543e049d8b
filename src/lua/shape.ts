import type { Arg, Reply } from './values.js'

/**
 * What a reply must be. A client library, a proxy or an open MULTI may answer with something else, and nothing that was
 * not expected may be believed. `sent`: the command, which decides how long some lists are.
 */
export type Shape<R> = (reply: unknown, sent: readonly Arg[]) => reply is R

/** Beyond these, JavaScript's numbers are not what the server said. */
export const integer = (reply: unknown): reply is number => Number.isSafeInteger(reply)

export const text = (reply: unknown): reply is string => typeof reply === 'string'

/** A number that is sent as text. */
export const digits = (reply: unknown): reply is string => typeof reply === 'string' && /^\d{1,19}$/.test(reply)

export const nil = (reply: unknown): reply is null => reply === null

export const list = (reply: unknown): reply is readonly Reply[] => Array.isArray(reply)

/** A user's script may answer what it likes. */
export const anything = (_reply: unknown): _reply is Reply => true

/** One text or number and no other. */
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

/** Names and values, one after the other. */
export const pairs = (reply: unknown): reply is readonly string[] =>
  Array.isArray(reply) && reply.length % 2 === 0 && reply.every(text)

/** One for every `each` arguments of a script, those from ARGV[`from`] on. */
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
