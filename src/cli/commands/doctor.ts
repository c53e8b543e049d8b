import { LONGEST_TIMEOUT } from '../../check-arguments.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, leadsToMemory, sameServer, withClient } from '../connection.js'
import { CODES, codesHelp, codesIn } from '../doctor/codes.js'
import { examine } from '../doctor/examine.js'
import { jsonLines } from '../doctor/json.js'
import { textLines } from '../doctor/text.js'
import { durationOf } from '../run/duration.js'
import { say } from '../say.js'
import { parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  json: { type: 'boolean', default: false, help: 'one JSON object a line for each server and each finding' },
  quiet: { type: 'boolean', short: 'q', default: false, help: 'print only what was found: nothing if all is well' },
  ignore: {
    type: 'string',
    value: 'CODES',
    words: CODES,
    help: 'findings that you accept, separated by commas: they do not change the exit code',
  },
  scan: {
    type: 'boolean',
    default: false,
    help: 'look at all keys of the server, in small steps: also examines locks of Redisson, and those held for less than a second',
  },
  within: { type: 'string', default: '1m', value: 'DURATION', help: 'how long the scan may take (default 1m)' },
  user: {
    type: 'string',
    value: 'USER',
    help: 'test the rights of this user; you need the right to use ACL DRYRUN (default: your own)',
  },
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['doctor [options]'],
  about:
    'Examines the server, or all masters of a cluster: what endangers locks there, how fast it answers, what the user may do, and which locks are stuck. It changes nothing. Each finding says why it matters and what to do.',
  options: OPTIONS,
  more: `Findings:
${codesHelp()}
Examples:
  holdfast doctor
  holdfast doctor --quiet --ignore persistence,latency  # in a crontab
  holdfast doctor --user app        # what the user of your program may do
  holdfast doctor --json | jq -r 'select(.type == "finding").what'

The exit code is 0 if nothing was found, 1 if something was; 64 wrong usage,
69 no server, 77 not permitted, 78 wrong configuration.
`,
}

const NO_SERVER = 'memory: is an engine inside one process, so there is no server to examine'

const read = (args: readonly string[]) => parse({ args: [...args], allowPositionals: true, options: OPTIONS })

const print = (lines: readonly string[]): void => {
  for (const line of lines) process.stdout.write(`${line}\n`)
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = read(args)
  if (positionals.length > 0) throw new UsageError('doctor takes no arguments, only options')
  const ignored = codesIn(values.ignore)
  const within = durationOf(values.within, '--within')
  if (within > LONGEST_TIMEOUT) throw new UsageError('--within must be at most 24d')
  if (values.user === '') throw new UsageError('--user must not be empty')
  if (leadsToMemory(values, process.env)) {
    say(NO_SERVER)
    return 0
  }
  return withClient(connectionOf(values, process.env), async (client) => {
    const search = { scan: values.scan, within, server: sameServer(values) }
    const report = await examine(client, search, values.user)
    // Also if the reader of the output leaves early.
    process.exitCode = report.findings.some(({ code }) => !ignored.has(code)) ? 1 : 0
    print(values.json ? jsonLines(report, ignored) : textLines(report, ignored, values.quiet))
    return process.exitCode
  })
}
