import type { Command, CommandTable } from '../command.js'
import type { Bytes } from '../reply.js'
import { bitCommands } from './bit.js'
import { counterCommands } from './counter.js'
import { expireCommands } from './expire.js'
import { genericCommands } from './generic.js'
import { hashCommands } from './hash.js'
import { listCommands } from './list.js'
import { pubsubCommands } from './pubsub.js'
import { scriptingCommands } from './scripting.js'
import { serverCommands } from './server.js'
import { setCommands } from './set.js'
import { stringCommands } from './string.js'
import { zsetCommands } from './zset.js'

/** By the two common spellings, in capitals and in small letters; other spellings take the slower path. */
const commands = new Map<string, Command>()

const tables: readonly CommandTable[] = [
  stringCommands,
  counterCommands,
  bitCommands,
  genericCommands,
  expireCommands,
  hashCommands,
  listCommands,
  setCommands,
  zsetCommands,
  pubsubCommands,
  scriptingCommands,
  serverCommands(() => commands.size / 2),
]

for (const table of tables) {
  for (const [name, command] of Object.entries(table)) {
    commands.set(name.toLowerCase(), command)
    commands.set(name.toUpperCase(), command)
  }
}

/** All commands; subcommands only by the name of their command. */
export const commandNames = (): string[] => tables.flatMap((table) => Object.keys(table)).sort()

export const findCommand = (name: Bytes): Command | undefined => commands.get(name) ?? commands.get(name.toLowerCase())
