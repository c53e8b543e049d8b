import { plainText } from '../plain-text.js'
import { textOf } from '../thrown.js'
import type { Entry, Page } from './command.js'
import { EXIT } from './exit-code.js'
import { say, toStderr } from './say.js'
import { WIDTH, wrapped } from './text/wrap.js'
import { UsageError } from './usage-error.js'

/** Where the texts about options begin. */
const COLUMN = 18

const optionLines = (flags: string, help: string): readonly string[] => {
  const head = `  ${flags}`
  const lines = wrapped(help, WIDTH - COLUMN).map((line) => ' '.repeat(COLUMN) + line)
  const [first = '', ...rest] = lines
  return head.length > COLUMN - 2 ? [head, ...lines] : [head + first.slice(head.length), ...rest]
}

const optionsOf = ({ options }: Page): readonly string[] =>
  Object.entries(options).flatMap(([name, { short, value, help }]) => {
    const flags = `${short === undefined ? '' : `-${short}, `}--${name}`
    return optionLines(value === undefined ? flags : `${flags} ${value}`, help)
  })

const usageLines = ({ usage }: Page): string =>
  usage.map((line, i) => `${i === 0 ? 'Usage:' : '      '} holdfast ${line}\n`).join('')

/** The help of one command. */
export const helpOf = (page: Page): string =>
  [
    usageLines(page),
    ...page.about.split('\n\n').map((part) => `${wrapped(part, WIDTH).join('\n')}\n`),
    `${[...optionsOf(page), ...optionLines('-h, --help', 'print this help')].join('\n')}\n`,
    ...(page.more === '' ? [] : [page.more]),
  ].join('\n')

/** The list of all commands. */
export const overview = (all: readonly Entry[]): string => {
  const width = Math.max(...all.map(({ name }) => name.length))
  return [
    'holdfast: distributed locks on Redis and Valkey',
    '',
    'Usage: holdfast COMMAND [options]',
    '',
    ...all.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'holdfast help COMMAND, or holdfast COMMAND --help, explains one of them.',
    'holdfast --version prints the version.',
    '',
  ].join('\n')
}

/** Whether the user asks for help: in front of the `--`, because everything behind it belongs to another command. */
export const asksForHelp = (args: readonly string[]): boolean => {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? args.length : end).some((arg) => arg === '--help' || arg === '-h')
}

/** The command with this name. */
export const entryOf = (all: readonly Entry[], name: string): Entry => {
  const entry = all.find((one) => one.name === name)
  if (entry !== undefined) return entry
  throw new UsageError(`unknown command "${plainText(name)}"; try holdfast --help`)
}

/** Says what is wrong with the command line, and how to write it. Returns the exit code. */
export const wrong = (error: UsageError, page?: Page): number => {
  say(textOf(error))
  if (page !== undefined) {
    const [name = ''] = page.usage[0].split(' ')
    toStderr(`\n${usageLines(page)}\nTry holdfast ${name} --help.\n`)
  }
  return EXIT.usage
}
