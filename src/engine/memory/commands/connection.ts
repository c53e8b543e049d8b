import type { CommandContext } from '../command.js'
import { syntaxError } from '../error-texts.js'
import { type Bytes, type Reply, ReplyError } from '../reply.js'
import { container } from './subcommands.js'
import { OK } from './string.js'

const setName = (argv: readonly Bytes[], { session }: CommandContext): Reply => {
  const name = argv[2] as Bytes
  for (let i = 0; i < name.length; i++) {
    const char = name.charCodeAt(i)
    if (char >= 33 && char <= 126) continue
    throw new ReplyError('ERR Client names cannot contain spaces, newlines or special characters.')
  }
  session.name = name
  return OK
}

const describe = (_argv: readonly Bytes[], { session }: CommandContext): Reply =>
  `id=${session.id} addr= laddr= fd=0 name=${session.name ?? ''} db=0 flags=N user=default resp=2\n`

const onOrOff = (argv: readonly Bytes[]): Reply => {
  const how = argv[2]?.toUpperCase()
  if (how !== 'ON' && how !== 'OFF') throw syntaxError()
  return OK
}

export const clientCommand = container({
  id: { arity: 2, noScript: true, handle: (_argv, { session }) => session.id },
  setname: { arity: 3, noScript: true, handle: setName },
  getname: {
    arity: 2,
    noScript: true,
    handle: (_argv, { session }) => (session.name === undefined || session.name === '' ? null : session.name),
  },
  info: { arity: 2, noScript: true, handle: describe },
  'no-evict': { arity: 3, noScript: true, handle: onOrOff },
})
