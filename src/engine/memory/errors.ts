import { type Bytes, ReplyError } from './reply.js'

/** Texts of Redis 7 that more than one command answers with. */
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
export const tooLong = (): ReplyError => new ReplyError('ERR string exceeds maximum allowed size (proto-max-bulk-len)')

/** An error's text is one line. */
const oneLine = (text: string): string => text.replaceAll('\r', ' ').replaceAll('\n', ' ')

export const unknownCommand = (argv: readonly Bytes[]): ReplyError => {
  let args = ''
  for (let i = 1; i < argv.length && args.length < 128; i++) args += `'${(argv[i] ?? '').slice(0, 128 - args.length)}' `
  const name = (argv[0] ?? '').slice(0, 128)
  return new ReplyError(oneLine(`ERR unknown command '${name}', with args beginning with: ${args}`))
}

export const unknownSubcommand = (argv: readonly Bytes[]): ReplyError => {
  const [name = '', subcommand = ''] = argv
  return new ReplyError(
    oneLine(`ERR unknown subcommand '${subcommand.slice(0, 128)}'. Try ${name.toUpperCase()} HELP.`),
  )
}
