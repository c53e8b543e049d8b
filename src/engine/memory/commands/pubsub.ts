import type { CommandContext, CommandTable } from '../command.js'
import { badSubcommand } from '../error-texts.js'
import type { Bytes, Reply } from '../reply.js'
import { scanMatches } from '../scan.js'
import { container } from './subcommands.js'

const publish =
  (sharded: boolean) =>
  (argv: readonly Bytes[], { server }: CommandContext): Reply =>
    server.publish(argv[1] as Bytes, argv[2] as Bytes, sharded)

const channels =
  (sharded: boolean) =>
  (argv: readonly Bytes[], { server: { pubsub } }: CommandContext): Reply => {
    if (argv.length > 3) throw badSubcommand(argv)
    return pubsub.channels(sharded).filter((channel) => scanMatches(argv[2], channel))
  }

const counts =
  (sharded: boolean) =>
  (argv: readonly Bytes[], { server: { pubsub } }: CommandContext): Reply =>
    argv.slice(2).flatMap((channel) => [channel, pubsub.count(channel, sharded)])

export const pubsubCommands: CommandTable = {
  // Redis counts PUBLISH as a write, which a read-only script may not do.
  publish: { arity: 3, write: true, handle: publish(false) },
  spublish: { arity: 3, write: true, handle: publish(true) },
  pubsub: container({
    channels: { arity: -2, handle: channels(false) },
    shardchannels: { arity: -2, handle: channels(true) },
    numsub: { arity: -2, handle: counts(false) },
    shardnumsub: { arity: -2, handle: counts(true) },
    numpat: { arity: 2, handle: (_argv, { server: { pubsub } }) => pubsub.patterns },
  }),
}
