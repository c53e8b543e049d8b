#!/usr/bin/env node
import { HoldfastError } from '../errors.js'
import { commands } from './commands/all-commands.js'
import { asksForHelp, entryOf, helpOf, overview, wrong } from './help.js'
import { EXIT } from './exit-code.js'
import { say, toStderr } from './say.js'
import { UsageError } from './usage-error.js'
import { versionOf } from './version.js'
import { isA, textOf, traceOf } from '../thrown.js'

const run = async ([first, ...rest]: readonly string[]): Promise<number> => {
  if (first === undefined) {
    toStderr(overview(commands))
    return EXIT.usage
  }
  if (first === '--help' || first === '-h') process.stdout.write(overview(commands))
  else if (first === '--version' || first === '-v') process.stdout.write(`${versionOf('holdfast')}\n`)
  else return runCommand(first, rest)
  return 0
}

const runCommand = async (name: string, args: readonly string[]): Promise<number> => {
  const command = await entryOf(commands, name).load()
  if (asksForHelp(args)) {
    process.stdout.write(helpOf(command.page))
    return 0
  }
  try {
    return await command.run(args, commands)
  } catch (error) {
    if (isA(error, UsageError)) return wrong(error, command.page)
    throw error
  }
}

const failed = (error: unknown): number => {
  if (isA(error, UsageError)) return wrong(error)
  toStderr(`holdfast: ${error instanceof HoldfastError ? textOf(error) : traceOf(error)}\n`)
  return 1
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader is gone (`| head`), so there is nothing left to write.
  if (error.code === 'EPIPE' || error.code === 'EIO') process.exit()
  say(`cannot write the output: ${textOf(error)}`)
  process.exit(EXIT.output)
})

process.exitCode = await run(process.argv.slice(2)).catch(failed)
