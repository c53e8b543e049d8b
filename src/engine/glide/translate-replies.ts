import type { Reply } from '../../lua/values.js'
import { NoReply, NotSent } from '../driver.js'
import { errorOf, isError } from '../../thrown.js'

export const textOf = (value: string | Uint8Array): string =>
  typeof value === 'string' ? value : Buffer.from(value).toString()
export const bytesOf = (value: string | Uint8Array): Uint8Array =>
  typeof value === 'string' ? Buffer.from(value) : value

/** Converts a reply to its RESP2 form: for commands that GLIDE knows, it makes maps and booleans. */
export const replyOf = (value: unknown, binary: boolean): Reply => {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string') return binary ? Buffer.from(value) : value
  if (isError(value)) return new Error(serverText(value.message) ?? value.message)
  if (Array.isArray(value)) return value.flatMap((item: unknown) => itemsOf(item, binary))
  return value as Reply
}

const itemsOf = (item: unknown, binary: boolean): Reply[] =>
  isEntry(item) ? [replyOf(item.key, binary), replyOf(item.value, binary)] : [replyOf(item, binary)]

const isEntry = (item: unknown): item is { key: unknown; value: unknown } =>
  typeof item === 'object' && item !== null && 'key' in item && 'value' in item

/** GLIDE's names for the first words of the server's errors. It keeps words that it does not know. */
const KINDS: Readonly<Record<string, string>> = {
  ResponseError: 'ERR',
  ExecAbortError: 'EXECABORT',
  BusyLoadingError: 'LOADING',
  NoScriptError: 'NOSCRIPT',
  Moved: 'MOVED',
  Ask: 'ASK',
  TryAgain: 'TRYAGAIN',
  ClusterDown: 'CLUSTERDOWN',
  CrossSlot: 'CROSSSLOT',
  MasterDown: 'MASTERDOWN',
  ReadOnly: 'READONLY',
  NotBusy: 'NOTBUSY',
  PermissionDenied: 'NOPERM',
}

/** The server's own text; undefined: the text is not the server's. */
export const serverText = (text: string): string | undefined => {
  const [, kind = '', detail = ''] = /^An error was signalled by the server:? - (\w+)(?:: (.*))?$/s.exec(text) ?? []
  if (kind in KINDS) return `${KINDS[kind]} ${detail}`
  const [, word, rest] = /^([A-Z]{2,}): (.*)$/s.exec(text) ?? []
  return word === undefined ? undefined : `${word} ${rest}`
}

export const refuse = (error: unknown): never => {
  throw translated(errorOf(error))
}

/** Recognizes errors by name and text, because their classes belong to the caller's copy of GLIDE. */
export const translated = ({ name, message }: Error): Error => {
  const said = serverText(message)
  if (said !== undefined) return new Error(said)
  return name === 'ClosingError' || message.includes('inflight') ? new NotSent(message) : new NoReply(message)
}
