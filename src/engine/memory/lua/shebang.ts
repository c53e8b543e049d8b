import { ReplyError } from '../reply.js'
import type { Bytes } from '../reply.js'

const FLAGS = ['no-writes', 'allow-oom', 'allow-stale', 'no-cluster', 'allow-cross-slot-keys']

const checkOption = (option: string): ReplyError | undefined => {
  if (!option.startsWith('flags=')) return new ReplyError(`ERR Unknown lua shebang option: ${option}`)
  const flags = option.slice(6)
  const unknown = flags === '' ? undefined : flags.split(',').find((flag) => !FLAGS.includes(flag))
  return unknown === undefined ? undefined : new ReplyError(`ERR Unexpected flag in script shebang: ${unknown}`)
}

/** Whether a script's flags forbid writes; undefined if it has no shebang. */
export const isReadOnly = (source: Bytes): boolean | undefined => {
  if (!source.startsWith('#!')) return undefined
  const options = (source.split('\n', 1)[0] ?? '').split(' ')
  return options.some((option) => option.startsWith('flags=') && option.slice(6).split(',').includes('no-writes'))
}

/** Checks and removes a script's shebang line. The newline stays, so that the line numbers do not change. */
export const withoutShebang = (source: Bytes): Bytes | ReplyError => {
  if (!source.startsWith('#!')) return source
  const end = source.indexOf('\n')
  if (end < 0) return new ReplyError('ERR Invalid script shebang')
  const [engine = '', ...options] = source
    .slice(0, end)
    .split(' ')
    .filter((part) => part !== '')
  if (engine !== '#!lua') return new ReplyError(`ERR Unexpected engine in script shebang: ${engine}`)
  for (const option of options) {
    const error = checkOption(option)
    if (error) return error
  }
  return source.slice(end)
}
