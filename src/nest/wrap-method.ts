import { Inject } from '@nestjs/common'
import type { Client } from '../api/client.js'
import { show } from '../check-arguments.js'
import { quoted } from '../plain-text.js'
import { copyMetadata } from './metadata.js'
import { getHoldfastToken } from './token.js'

/** A decorator for methods that take at least these arguments, and return a promise. */
export type AsyncMethodDecorator<A extends readonly unknown[]> = <P extends readonly [...A, ...unknown[]], R>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<(...args: P) => Promise<R>>,
) => void

/** A method, called with `this` and its arguments. */
export type Method = (...args: unknown[]) => unknown

/** One call of a decorated method. */
export interface Call {
  readonly client: Client
  readonly instance: unknown
  readonly args: readonly unknown[]
  /** The wrapper, which has the metadata of all decorators. */
  readonly wrapper: object
  readonly run: () => Promise<unknown>
}

const named = (target: object, key: string | symbol): string =>
  `${(target as { constructor: { name: string } }).constructor.name}.${String(key)}`

/** Nest injects the client into each instance, so that each app has its own. */
export const injectClient = (target: object, client: string | undefined): void => {
  const token = getHoldfastToken(client)
  Inject(token)(target, token)
}

export const clientOf = (instance: unknown, client: string | undefined, who: string): Client => {
  const found = (instance as Record<string, unknown> | undefined | null)?.[getHoldfastToken(client)]
  if (found !== undefined) return found as Client
  throw new TypeError(
    `${who} needs ${client === undefined ? 'a client' : `the client ${quoted(client)}`}: only Nest can make the instance`,
  )
}

/** Wraps a method in `around`, and keeps its name, its length and its metadata. */
export const wrapMethod = (
  decorator: string,
  {
    target,
    key,
    descriptor,
    client,
  }: {
    target: object
    key: string | symbol
    descriptor: PropertyDescriptor | undefined
    client: string | undefined
  },
  around: (call: Call) => Promise<unknown>,
): void => {
  const who = `@${decorator} of ${named(target, key)}`
  const method: unknown = descriptor?.value
  if (typeof method !== 'function' || typeof target === 'function' || descriptor === undefined)
    throw new TypeError(`${who}: it is for methods of instances, not for ${show(method)}`)
  injectClient(target, client)
  const wrapper = async function (this: unknown, ...args: unknown[]): Promise<unknown> {
    const run = async (): Promise<unknown> => Reflect.apply(method as Method, this, args)
    return around({ client: clientOf(this, client, who), instance: this, args, wrapper, run })
  }
  for (const property of ['name', 'length'])
    Object.defineProperty(wrapper, property, { value: Reflect.get(method, property), configurable: true })
  copyMetadata(method, wrapper)
  descriptor.value = wrapper
}
