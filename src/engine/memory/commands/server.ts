import type { CommandContext, CommandTable } from '../command.js'
import { notAnInteger, wrongArity } from '../error-texts.js'
import { type Int, integer, readInteger } from '../numbers.js'
import { type Bytes, type Reply, ReplyError, Status } from '../reply.js'
import { clientCommand } from './connection.js'
import { configCommand } from './config.js'
import { info } from './info.js'
import { container } from './subcommands.js'

const PONG = new Status('PONG')

const ping = (argv: readonly Bytes[]): Reply => {
  if (argv.length > 2) throw wrongArity('ping')
  return argv[1] ?? PONG
}

const time = (_argv: readonly Bytes[], { server }: CommandContext): Reply => {
  const now = server.microseconds()
  return [String(Math.floor(now / 1e6)), String(now % 1e6)]
}

/** There are no replicas that could confirm anything, so waiting makes no sense. */
const wait = (argv: readonly Bytes[]): Reply => {
  const timeout: Int | undefined = readInteger(argv[2] as Bytes)
  if (timeout === undefined) throw new ReplyError('ERR timeout is not an integer or out of range')
  if (timeout < 0) throw new ReplyError('ERR timeout is negative')
  if (typeof integer(argv[1] as Bytes) === 'bigint') throw notAnInteger()
  return 0
}

export const serverCommands = (count: () => number): CommandTable => ({
  ping: { arity: -1, handle: ping },
  echo: { arity: 2, handle: (argv) => argv[1] as Bytes },
  time: { arity: 1, handle: time },
  info: { arity: -1, handle: info },
  wait: { arity: 3, noScript: true, handle: wait },
  role: { arity: 1, noScript: true, handle: () => ['master', 0, []] },
  client: clientCommand,
  config: configCommand,
  command: {
    ...container({ count: { arity: 2, handle: () => count() } }),
    arity: -1,
    handle: () => [],
  },
})
