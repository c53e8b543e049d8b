import type { CommandContext } from '../command.js'
import { untilNul, wrongArity } from '../error-texts.js'
import { globMatches } from '../glob.js'
import { type Bytes, type Reply, ReplyError } from '../reply.js'
import { container } from './subcommands.js'
import { OK } from './string.js'

/** Only the settings that a client of a lock server may ask for. Setting them has no effect. */
const DEFAULTS: Readonly<Record<string, string>> = {
  maxmemory: '0',
  'maxmemory-policy': 'noeviction',
  save: '',
  appendonly: 'no',
  appendfsync: 'everysec',
  timeout: '0',
  databases: '1',
  'notify-keyspace-events': '',
  'min-replicas-to-write': '0',
  'busy-reply-threshold': '5000',
  'lua-time-limit': '5000',
  'proto-max-bulk-len': '536870912',
}

const get = (argv: readonly Bytes[], { server: { config } }: CommandContext): Reply => {
  const found: Bytes[] = []
  for (const [name, text] of Object.entries(DEFAULTS)) {
    const wanted = argv.some((pattern, i) => i > 1 && globMatches(pattern.toLowerCase(), name))
    if (wanted) found.push(name, config.get(name) ?? text)
  }
  return found
}

const set = (argv: readonly Bytes[], { server: { config } }: CommandContext): Reply => {
  if (argv.length % 2 === 1) throw wrongArity('config|set')
  for (let i = 2; i < argv.length; i += 2) {
    const name = argv[i] as Bytes
    if (Object.hasOwn(DEFAULTS, name.toLowerCase())) continue
    throw new ReplyError(`ERR Unknown option or number of arguments for CONFIG SET - '${untilNul(name)}'`)
  }
  for (let i = 2; i < argv.length; i += 2) config.set((argv[i] as Bytes).toLowerCase(), argv[i + 1] as Bytes)
  return OK
}

export const configCommand = container({
  get: { arity: -3, noScript: true, handle: get },
  set: { arity: -4, noScript: true, handle: set },
  resetstat: { arity: 2, noScript: true, handle: () => OK },
})
