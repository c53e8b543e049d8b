import type { CommandContext, CommandTable } from '../command.js'
import { noScript } from '../error-texts.js'
import { roughInteger } from '../numbers.js'
import { type Bytes, type Reply, ReplyError } from '../reply.js'
import { container } from './subcommands.js'
import { OK } from './string.js'

const evaluate =
  (bySha: boolean, readOnly: boolean) =>
  (argv: readonly Bytes[], { server: { scripts } }: CommandContext): Reply => {
    if (bySha && argv[1]?.length !== 40) return noScript()
    const count = roughInteger(argv[2] as Bytes)
    if (count > argv.length - 3) throw new ReplyError("ERR Number of keys can't be greater than number of args")
    if (count < 0) throw new ReplyError("ERR Number of keys can't be negative")
    const keys = argv.slice(3, 3 + count)
    const args = argv.slice(3 + count)
    const script = argv[1] as Bytes
    return bySha ? scripts.evalSha(script, keys, args, readOnly) : scripts.eval(script, keys, args, readOnly)
  }

const exists = (argv: readonly Bytes[], { server: { scripts } }: CommandContext): Reply =>
  argv.slice(2).map((sha) => (scripts.has(sha.toLowerCase()) ? 1 : 0))

const flush = (argv: readonly Bytes[], { server: { scripts } }: CommandContext): Reply => {
  const how = argv[2]?.toUpperCase() ?? 'SYNC'
  if (argv.length > 3 || (how !== 'SYNC' && how !== 'ASYNC')) {
    throw new ReplyError('ERR SCRIPT FLUSH only support SYNC|ASYNC option')
  }
  scripts.flush()
  return OK
}

const kill = (): Reply => {
  throw new ReplyError('NOTBUSY No scripts in execution right now.')
}

export const scriptingCommands: CommandTable = {
  eval: { arity: -3, noScript: true, handle: evaluate(false, false) },
  evalsha: { arity: -3, noScript: true, handle: evaluate(true, false) },
  eval_ro: { arity: -3, noScript: true, handle: evaluate(false, true) },
  evalsha_ro: { arity: -3, noScript: true, handle: evaluate(true, true) },
  script: container({
    load: {
      arity: 3,
      noScript: true,
      handle: (argv, { server }) => server.scripts.load(argv[2] as Bytes),
    },
    exists: { arity: -3, noScript: true, handle: exists },
    flush: { arity: -2, noScript: true, handle: flush },
    kill: { arity: 2, noScript: true, handle: kill },
  }),
}
