import type { Client } from '../../api/client.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, sameServer, shownServer, withClient } from '../connection.js'
import { KIND, kindOf } from '../locks/listed-kinds.js'
import { durationOf } from '../run/duration.js'
import { Top, type TopOptions } from '../top/live.js'
import { orderOf, ORDERS } from '../top/order.js'
import { asUsage, parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  sort: {
    type: 'string',
    short: 's',
    value: 'COLUMN',
    words: ORDERS,
    help: `by which column: ${ORDERS.join(', ')} (default WAITED, the longest wait first)`,
  },
  blocked: { type: 'boolean', default: false, help: 'only locks that calls wait for' },
  interval: {
    type: 'string',
    short: 'd',
    default: '1s',
    value: 'DURATION',
    help: 'how long it pauses before it reads the list again, 200ms to 1m (default 1s)',
  },
  ...KIND,
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['top [PATTERN] [options]'],
  about:
    "Shows the locks that holdfast's clients have held or waited for longer than a second, and keeps the list up to date. It only reads. PATTERN selects names, as in ls.",
  options: OPTIONS,
  more: `Keys:
  up, down, k, j     select a lock (also page up, page down, home, end, g, G)
  Enter              show the lock: its holders, its line, how to release it
  /                  filter by name, kind or label
  b                  only locks that calls wait for
  s, r               sort by the next column; reverse the order
  Space              read the list now
  ?                  this list
  q, Ctrl-C          quit

Examples:
  holdfast top
  holdfast top 'invoice:*' --sort AGE

The exit code is 0, after Ctrl-C 130; 64 wrong usage, also if the output is no
terminal; 69 no server, 77 not permitted, 78 wrong configuration.
`,
}

const intervalOf = (text: string): number => {
  const ms = durationOf(text, '--interval')
  if (ms >= 200 && ms <= 60_000) return ms
  throw new UsageError('--interval must be from 200ms to 1m')
}

const mustBeTerminal = (): void => {
  if (process.stdout.isTTY && process.env['TERM'] !== 'dumb') return
  throw new UsageError('top needs a terminal; for a file or another program, use ls')
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const [pattern, ...more] = positionals
  if (more.length > 0) throw new UsageError('top takes one pattern: quote it, so that the shell does not expand it')
  const view = { blocked: values.blocked, ...(values.sort !== undefined && { order: orderOf(values.sort) }) }
  const [interval, kind] = [intervalOf(values.interval), kindOf(values.kind)]
  mustBeTerminal()
  const options = connectionOf(values, process.env)
  const where = shownServer(values, process.env)
  const work = (client: Client): Promise<number> => {
    const list: TopOptions['list'] = (onSkipped) => asUsage(() => client.list({ pattern, kind, onSkipped }))
    return Top.run(client, { view, interval, where, server: sameServer(values), list })
  }
  // The first line of the picture shows the errors.
  return withClient(options, work, { onError: () => undefined })
}
