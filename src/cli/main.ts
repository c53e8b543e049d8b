#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { HoldfastError } from '../errors.js'
import { commands } from './commands/table.js'
import { UsageError } from './usage.js'
import { plainText } from '../plain-text.js'
import { textOf, traceOf } from '../thrown.js'

const help = (): string => {
  const width = Math.max(...commands.map(({ usage }) => usage.length))
  return [
    'holdfast: distributed locks on Redis and Valkey',
    '',
    'Usage: holdfast COMMAND [options]',
    '',
    ...commands.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`),
    '',
    '  --help, -h     print this help; holdfast COMMAND --help prints more',
    '  --version, -v  print the version',
    '',
  ].join('\n')
}

const version = (): string => {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

const run = async ([first, ...rest]: readonly string[]): Promise<number> => {
  if (first === undefined) {
    process.stderr.write(help())
    return 2
  }
  if (first === '--help' || first === '-h' || first === 'help') process.stdout.write(help())
  else if (first === '--version' || first === '-v') process.stdout.write(`${version()}\n`)
  else {
    const command = commands.find(({ name }) => name === first)
    if (command === undefined) throw new UsageError(`unknown command "${plainText(first)}"; try holdfast --help`)
    return (await command.load()).run(rest)
  }
  return 0
}

const failed = (error: unknown): number => {
  const known = error instanceof UsageError || error instanceof HoldfastError
  process.stderr.write(`holdfast: ${known ? textOf(error) : traceOf(error)}\n`)
  return error instanceof UsageError ? 2 : 1
}

// The reader is gone (`| head`), so there is nothing left to write.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || error.code === 'EIO') process.exit(0)
  throw error
})

process.exitCode = await run(process.argv.slice(2)).catch(failed)
