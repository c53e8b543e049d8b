import { type Bytes, ReplyError } from './reply.js'

/** Error texts of Redis 7 that several commands use. */
export const syntaxError = (): ReplyError => new ReplyError('ERR syntax error')
export const notAnInteger = (): ReplyError => new ReplyError('ERR value is not an integer or out of range')
export const notAFloat = (): ReplyError => new ReplyError('ERR value is not a valid float')
export const noSuchKey = (): ReplyError => new ReplyError('ERR no such key')
export const wrongArity = (name: string): ReplyError =>
  new ReplyError(`ERR wrong number of arguments for '${name}' command`)
export const invalidExpire = (name: string): ReplyError =>
  new ReplyError(`ERR invalid expire time in '${name}' command`)
export const incrementOverflow = (): ReplyError => new ReplyError('ERR increment or decrement would overflow')
export const notFinite = (): ReplyError => new ReplyError('ERR increment would produce NaN or Infinity')
export const noScript = (): ReplyError => new ReplyError('NOSCRIPT No matching script. Please use EVAL.')
export const tooLong = (): ReplyError => new ReplyError('ERR string exceeds maximum allowed size (proto-max-bulk-len)')

/** The text as the server sees it when it reads it as a C string. */
export const untilNul = (text: Bytes): Bytes => {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** The text of an error is one line. */
const oneLine = (text: string): string => text.replaceAll('\r', ' ').replaceAll('\n', ' ')
const quoted = (text: Bytes, most: number): string => `'${untilNul(text).slice(0, most)}'`

export const unknownCommand = (argv: readonly Bytes[]): ReplyError => {
  let args = ''
  for (let i = 1; i < argv.length && args.length < 128; i++) args += `${quoted(argv[i] ?? '', 128 - args.length)} `
  const name = quoted(argv[0] ?? '', 128)
  return new ReplyError(oneLine(`ERR unknown command ${name}, with args beginning with: ${args}`))
}

/** Redis has this command, and this server does not. */
export const unsupported = (name: string): ReplyError =>
  new ReplyError(`ERR memory: does not support the command '${name}', which Redis has`)

const subcommandError = (what: string, [name = '', subcommand = '']: readonly Bytes[]): ReplyError =>
  new ReplyError(oneLine(`ERR ${what} ${quoted(subcommand, 128)}. Try ${name.toUpperCase()} HELP.`))

export const unknownSubcommand = (argv: readonly Bytes[]): ReplyError => subcommandError('unknown subcommand', argv)
/** For commands whose subcommands check their own arguments. */
export const badSubcommand = (argv: readonly Bytes[]): ReplyError =>
  subcommandError('unknown subcommand or wrong number of arguments for', argv)
