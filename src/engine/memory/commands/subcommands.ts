import type { Command, CommandTable } from '../command.js'
import { unknownSubcommand } from '../error-texts.js'

/** A command with subcommands. */
export const container = (table: CommandTable): Command => ({
  arity: -2,
  subcommands: new Map(Object.entries(table)),
  handle(argv) {
    throw unknownSubcommand(argv)
  },
})
