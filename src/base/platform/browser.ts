import type { Channel, TracingChannel } from 'node:diagnostics_channel'
import type { Context, Platform } from './platform.js'
import { sha } from './sha.js'

/** The values of all contexts, for as long as a step runs. */
let current: ReadonlyMap<object, unknown> = new Map()

const during = <R>(values: ReadonlyMap<object, unknown>, step: () => R): R => {
  const before = current
  current = values
  try {
    return step()
  } finally {
    current = before
  }
}

class SynchronousContext<T> implements Context<T> {
  run<R>(value: T, work: () => R): R {
    return during(new Map([...current, [this, value]]), work)
  }

  getStore(): T | undefined {
    return current.get(this) as T | undefined
  }
}

/** There is no `diagnostics_channel`, so nobody subscribes. */
const silent = { hasSubscribers: false, publish: () => {} } as unknown as Channel
const untraced = { hasSubscribers: false } as unknown as TracingChannel<unknown, object>

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const binary = (bytes: Uint8Array): string => {
  let text = ''
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192))
  return text
}
const bytesOf = (latin1: string): Uint8Array => Uint8Array.from(latin1, (char) => char.charCodeAt(0))

const toBase64 = (bytes: Uint8Array): string => btoa(binary(bytes))

/** `atob` throws where a `Buffer` skips. A last character alone is no whole byte. */
const fromBase64 = (text: string): Uint8Array => {
  const known = text
    .replace(/=.*$/s, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/[^A-Za-z0-9+/]/g, '')
  return bytesOf(atob(known.length % 4 === 1 ? known.slice(0, -1) : known))
}

/** A number for this page or worker, as there is no process id. */
// eslint-disable-next-line no-restricted-globals -- not for a lock
const id = (): number => crypto.getRandomValues(new Uint32Array(1))[0] as number

export const platform: Platform = {
  context: () => new SynchronousContext(),
  snapshot: () => {
    const values = current
    return { runInAsyncScope: (step, receiver, ...args) => during(values, () => step.apply(receiver, args)) }
  },
  bind: (listener) => {
    const values = current
    const bound = (...args: never[]): unknown => during(values, () => listener(...args))
    return bound as typeof listener
  },
  channel: () => silent,
  tracingChannel: <S, C extends object>() => untraced as unknown as TracingChannel<S, C>,
  nextTick: (step) => void Promise.resolve().then(step),
  unref: () => {},
  hash: (algorithm, text, encoding = 'utf8') =>
    sha(algorithm, encoding === 'utf8' ? encoder.encode(text) : bytesOf(text)),
  // A page is not started from a snapshot of another.
  stirred: () => new Uint8Array(32),
  toHex: (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  toBase64,
  fromBase64,
  toBase64url: (text) => toBase64(encoder.encode(text)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  fromBase64url: (text) => decoder.decode(fromBase64(text)),
  fromUtf8: (bytes) => decoder.decode(bytes),
  toUtf8: (text) => encoder.encode(text),
  utf8Length: (text) => encoder.encode(text).length,
  environment: () => ({}),
  whereabouts: () => Promise.resolve({ host: 'browser', pid: id() }),
}
