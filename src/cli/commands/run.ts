import { wrong } from '../help.js'
import type { Page } from '../command.js'
import { execute } from '../run/execute.js'
import { OPTIONS, readOptions, type RunOptions } from '../run/run-options.js'
import { crash } from '../say.js'
import { UsageError } from '../usage-error.js'

export const page: Page = {
  usage: ['run NAME [options] -- COMMAND [ARG…]', 'run --kind multi NAME NAME… [options] -- COMMAND [ARG…]'],
  about:
    'Runs the command while the lock is held. The lease is renewed while the command runs. If the lock is lost, the command is ended before the lease is over.',
  options: OPTIONS,
  more: `The command finds HOLDFAST_NAME, HOLDFAST_OWNER and, with --kind fenced,
HOLDFAST_TOKEN in its environment.

Examples:
  holdfast run nightly -n -E 0 -- ./report.sh         # skip if it runs already
  holdfast run deploy -w 10m -- kubectl apply -f app.yml
  holdfast run crawl --kind semaphore:3 -- ./crawl.sh # three at a time

The exit code is the command's own, 128+N if signal N ended it, or:
  64 wrong usage             75 not acquired in time    79 the lock was lost
  69 no server, or it        77 not permitted           126 cannot be executed
     refused                 78 wrong configuration     127 command not found
  70 a bug
`,
}

const optionsOf = (args: readonly string[]): RunOptions => {
  if (process.platform === 'win32')
    throw new UsageError('holdfast run needs process groups, which Windows does not have')
  return readOptions(args, process.env)
}

const codeOf = async (args: readonly string[]): Promise<number> => {
  try {
    return await execute(optionsOf(args))
  } catch (error) {
    return error instanceof UsageError ? wrong(error, page) : crash(error)
  }
}

export const run = async (args: readonly string[]): Promise<number> =>
  // A connection that is still being made, or a process that still ends, must not keep this one.
  process.exit(await codeOf(args))
