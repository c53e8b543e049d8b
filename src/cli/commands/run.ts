import { textOf } from '../../thrown.js'
import { execute } from '../run/execute.js'
import { EXIT } from '../run/exit-code.js'
import { asksForHelp, readOptions, type RunOptions } from '../run/options.js'
import { crash, say } from '../run/say.js'
import { UsageError } from '../usage.js'

const USAGE = `Usage: holdfast run NAME [options] -- COMMAND [ARG…]
       holdfast run --kind multi NAME NAME… [options] -- COMMAND [ARG…]
`

const HELP = `${USAGE}
Runs the command while the lock is held. The lease is renewed while the command
runs. If the lock is lost, the command is ended before the lease is over.

  --kind KIND     lock (default), fair, read, write, fenced, semaphore:N (N at a
                  time), keyed:KEY,KEY… (keys of a group), or multi (all NAMEs)
  -w, --wait DURATION
                  wait this long for the lock, for example 500ms, 10s or 2m
                  (default: for ever)
  -n, --no-wait   do not wait
  -E, --conflict-exit-code CODE
                  the exit code if the lock could not be acquired (default 75)
  --lease DURATION
                  how long the lock stays taken if the machine dies
                  (default 30s)
  --on-lost term  if the lock is lost: SIGTERM, and SIGKILL after the grace;
            kill  SIGKILL at once; ignore  let the command run
  --grace DURATION
                  from SIGTERM to SIGKILL (default: 5s, or what is left of the
                  lease if that is less)
  --label TEXT    shown wherever people see who holds the lock
  --url URL       the server (default: HOLDFAST_URL, else REDIS_URL)
  --config FILE   a Redisson configuration, instead of a URL
  --ticket        give the hold to the command, which adopts HOLDFAST_TICKET

The command finds HOLDFAST_NAME, HOLDFAST_OWNER and, with --kind fenced,
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
`

const wrong = (error: unknown): number => {
  say(textOf(error))
  process.stderr.write(`\n${USAGE}\nTry holdfast run --help.\n`)
  return EXIT.usage
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
    return error instanceof UsageError ? wrong(error) : crash(error)
  }
}

export const run = async (args: readonly string[]): Promise<number> => {
  if (asksForHelp(args)) {
    process.stdout.write(HELP)
    return 0
  }
  // A connection that is still being made, or a process that still ends, must not keep this one.
  return process.exit(await codeOf(args))
}
