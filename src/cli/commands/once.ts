import type { Page } from '../command.js'
import { inSlot } from '../once/in-slot.js'
import { OPTIONS, readOptions } from '../once/once-options.js'
import { wholeRun } from '../run/whole-run.js'
import { runToExit } from '../run/to-exit.js'

export const page: Page = {
  usage: [
    'once NAME --slot SLOT [options] -- COMMAND [ARG…]',
    'once NAME --every DURATION [options] -- COMMAND [ARG…]',
  ],
  about:
    'Runs the command once for each slot, on the machine that comes first. The others skip it, and exit with 0. For crontabs: write the same line on every machine.',
  options: OPTIONS,
  more: `The command finds HOLDFAST_NAME, HOLDFAST_SLOT, HOLDFAST_TOKEN (a number that
grows with each run) and HOLDFAST_ATTEMPT in its environment.

Examples:
  30 2 * * *   holdfast once report --slot day --timezone UTC -- ./report.sh
  */5 * * * *  holdfast once poll --every 5m -q -- ./poll.sh
  holdfast once migrate --slot v42 --retry 3 --retention 365d -- ./migrate.sh

A command that fails has run: it is not started again for this slot. One that a
signal ended, or whose machine died, is started again only with --retry.

The exit code is the command's own, 128+N if signal N ended it, or:
  0 skipped, or as -E says   70 a bug                   79 the slot was lost
  64 wrong usage             77 not permitted           126 cannot be executed
  69 no server, or it        78 wrong configuration     127 command not found
     refused
`,
}

export const run = (args: readonly string[]): Promise<number> =>
  runToExit(page, () => {
    const options = readOptions(args, process.env)
    return wholeRun(options, inSlot(options))
  })
