import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { createHash, hash } from 'node:crypto'
import { channel, tracingChannel } from 'node:diagnostics_channel'
import { closeSync, openSync, readSync } from 'node:fs'
import process, { nextTick } from 'node:process'
import type { Platform } from './platform.js'

const fromKernel = (): Uint8Array => {
  const bytes = new Uint8Array(32)
  try {
    const file = openSync('/dev/urandom', 'r')
    readSync(file, bytes)
    closeSync(file)
  } catch {
    // On a platform without it, the other sources must be enough.
  }
  return bytes
}

/** Mixes in the kernel's own random bytes, and the time to the nanosecond. */
const stirred = (key: Uint8Array): Uint8Array => {
  // eslint-disable-next-line no-restricted-properties, no-restricted-globals -- not as a time
  const moment = `${process.hrtime.bigint()} ${Date.now()} ${process.pid}`
  return createHash('sha256').update(key).update(fromKernel()).update(moment).digest()
}

export const platform: Platform = {
  context: () => new AsyncLocalStorage(),
  // As `AsyncLocalStorage.snapshot`, which in Node 20 costs ten times as much: it defines deprecated properties for each one.
  snapshot: () => new AsyncResource('holdfast'),
  bind: (listener) => AsyncLocalStorage.bind(listener),
  channel,
  tracingChannel: (name) => tracingChannel(name),
  nextTick,
  unref: (timer) => void timer.unref(),
  hash: (algorithm, text, encoding = 'utf8') =>
    encoding === 'utf8' ? hash(algorithm, text, 'hex') : createHash(algorithm).update(text, encoding).digest('hex'),
  stirred,
  toHex: (bytes) => Buffer.from(bytes).toString('hex'),
  toBase64: (bytes) => Buffer.from(bytes).toString('base64'),
  fromBase64: (text) => Buffer.from(text, 'base64'),
  toBase64url: (text) => Buffer.from(text).toString('base64url'),
  fromBase64url: (text) => Buffer.from(text, 'base64url').toString(),
  fromUtf8: (bytes) => Buffer.from(bytes).toString(),
  toUtf8: (text) => Buffer.from(text),
  utf8Length: (text) => Buffer.byteLength(text),
  environment: () => process.env,
  whereabouts: async () => {
    const { hostname } = await import('node:os')
    return { host: hostname(), pid: process.pid }
  },
}
