import { plainMessage, plainText } from './plain-text.js'

/**
 * Other people's code may throw, or reject with, anything: `Object.create(null)`, a symbol, a revoked proxy, an error whose message
 * is a getter that throws. Only this file looks at such values, and nothing here throws.
 */

/** `instanceof` asks a proxy for its prototype, which may throw. */
export const isA = <T>(value: unknown, type: abstract new (...args: never[]) => T): value is T => {
  try {
    return value instanceof type
  } catch {
    return false
  }
}

export const isError = (value: unknown): value is Error => isA(value, Error)

/** One of its properties; undefined if it cannot be read. */
export const partOf = (thrown: unknown, name: string): unknown => {
  try {
    return (thrown as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  } catch {
    return undefined
  }
}

/** Its message, or else the value as text: plain, on one line, and not long. */
export const textOf = (thrown: unknown): string => {
  const message = partOf(thrown, 'message')
  if (typeof message === 'string' && message !== '') return plainMessage(message)
  try {
    return plainMessage(String(thrown))
  } catch {
    return 'something that cannot be shown as text'
  }
}

/** The type of an object, such as `[object Map]`. */
export const kindOf = (value: object): string => {
  try {
    return plainText(Object.prototype.toString.call(value))
  } catch {
    return 'an object that cannot be read'
  }
}

/** Its code, like the errors of the system have. */
export const codeOf = (thrown: unknown): string | undefined => {
  const code = partOf(thrown, 'code')
  return typeof code === 'string' ? plainText(code) : undefined
}

const TEXTS = ['name', 'message', 'stack'] as const
/** Frameworks and loggers read these properties. */
const OTHERS = ['code', 'cause', 'status', 'statusCode', 'headers', 'expose'] as const

/** Whether it is an error whose properties can be read safely. */
const behaves = (thrown: unknown): thrown is Error => {
  if (!isError(thrown)) return false
  if (TEXTS.some((part) => typeof partOf(thrown, part) !== 'string')) return false
  try {
    void String(thrown)
    return OTHERS.map((part) => (thrown as Error & Record<string, unknown>)[part]).length > 0
  } catch {
    return false
  }
}

/**
 * Returns the value itself if it is an error that can be read safely; otherwise an error with the message `what`, whose cause is the
 * value.
 */
export const errorOf = (thrown: unknown, what?: string): Error =>
  behaves(thrown) ? thrown : new Error(what ?? textOf(thrown), { cause: thrown })

const FRAME = /^ +at .*$/gm
const MOST_FRAMES = 20

/** Its text, and below it the place where it was thrown. */
export const traceOf = (thrown: unknown): string => {
  const stack = partOf(thrown, 'stack')
  const message = partOf(thrown, 'message')
  if (typeof stack !== 'string' || typeof message !== 'string') return textOf(thrown)
  // A message may look like a place in the code.
  const end = stack.indexOf(message)
  const frames = stack.slice(end === -1 ? 0 : end + message.length).match(FRAME) ?? []
  const name = partOf(thrown, 'name')
  const title = typeof name === 'string' && name !== '' ? `${plainText(name)}: ` : ''
  return [title + textOf(thrown), ...frames.slice(0, MOST_FRAMES).map((frame) => plainText(frame, 300))].join('\n')
}

/** Calls somebody else's function and ignores its result. If it throws, or its promise rejects, `failed` gets the error. */
export const tell = (listener: () => unknown, failed: (thrown: unknown) => void): void => {
  try {
    const done = listener()
    if ((typeof done === 'object' && done !== null) || typeof done === 'function') settled(done).catch(failed)
  } catch (thrown) {
    failed(thrown)
  }
}

/** Whether the user's function returned a promise where a value is expected. If that rejects, it is not reported again. */
export const isPromise = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false
  try {
    if (!('then' in value)) return false
  } catch {
    // A value that cannot be examined does not count as a promise.
    return false
  }
  settled(value).catch(() => undefined)
  return true
}

/** `Promise.resolve` reads a promise's constructor, which may throw. */
export const settled = (given: unknown): Promise<unknown> =>
  new Promise((resolve) => {
    resolve(given)
  })
