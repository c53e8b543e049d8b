import type { Page } from '../command.js'
import { wholeRun } from '../run/whole-run.js'
import { underLock } from '../run/under-lock.js'
import { OPTIONS, readOptions } from '../run/run-options.js'
import { runToExit } from '../run/to-exit.js'

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

export const run = (args: readonly string[]): Promise<number> =>
  runToExit(page, () => {
    const options = readOptions(args, process.env)
    return wholeRun(options, underLock(options), options.conflict)
  })
