import type { Channel, TracingChannel } from 'node:diagnostics_channel'

/** A value that follows the calls that a piece of work makes, as `AsyncLocalStorage` does. */
export interface Context<T> {
  run<R>(value: T, work: () => R): R
  getStore(): T | undefined
}

/** Contexts that were kept. It has the form of Node's `AsyncResource`, so that keeping them makes one object. */
export interface Kept {
  runInAsyncScope<A extends unknown[], R>(step: (...args: A) => R, receiver?: object, ...args: A): R
}

export type Algorithm = 'sha1' | 'sha256'

/**
 * What differs between Node and a browser. `#platform` in package.json leads to one of the two implementations, so that no other
 * file has to know where it runs.
 */
export interface Platform {
  /** In a browser a context ends at the first `await`: it is lost, and never the wrong one. */
  context<T>(): Context<T>
  /** Keeps the contexts in which this is called. */
  snapshot(): Kept
  /** The same for a listener. */
  bind<L extends (...args: never[]) => unknown>(listener: L): L

  channel(name: string): Channel
  tracingChannel<S, C extends object>(name: string): TracingChannel<S, C>

  /** Runs the step after this tick, before the event loop goes on. */
  nextTick(step: () => void): void
  /** The timer does not keep the process alive. */
  unref(timer: ReturnType<typeof setTimeout>): void

  /** In hexadecimal. `latin1`: each character of the text is one byte. */
  hash(algorithm: Algorithm, text: string, encoding?: 'utf8' | 'latin1'): string
  /** 32 bytes that differ between two processes that were started from one snapshot. */
  stirred(key: Uint8Array): Uint8Array
  toHex(bytes: Uint8Array): string
  toBase64(bytes: Uint8Array): string
  fromBase64(text: string): Uint8Array
  /** Without padding, as in a URL. */
  toBase64url(text: string): string
  /** Like Node's `Buffer`: what is not base64 is skipped. */
  fromBase64url(text: string): string
  fromUtf8(bytes: Uint8Array): string
  toUtf8(text: string): Uint8Array
  utf8Length(text: string): number

  environment(): Readonly<Record<string, string | undefined>>
  /** Where this runs, for people. `pid`: of a page or worker, a random number. */
  whereabouts(): Promise<{ readonly host: string; readonly pid: number }>
}
