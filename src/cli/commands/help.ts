import type { Entry, Page } from '../command.js'
import { entryOf, helpOf, overview } from '../help.js'
import { parse, UsageError } from '../usage-error.js'

export const page: Page = {
  usage: ['help [COMMAND]'],
  about: 'Explains a command, or lists all of them.',
  options: {},
  words: 'commands',
  more: '',
}

export const run = async (args: readonly string[], all: readonly Entry[]): Promise<number> => {
  const { positionals } = parse({ args: [...args], allowPositionals: true, options: {} })
  const [name, ...more] = positionals
  if (more.length > 0) throw new UsageError('help explains one command at a time')
  process.stdout.write(name === undefined ? overview(all) : helpOf((await entryOf(all, name).load()).page))
  return 0
}
