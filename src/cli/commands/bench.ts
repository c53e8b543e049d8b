import type { Client } from '../../api/client.js'
import { type Figures, measured, type ServerCpu } from '../bench/measure.js'
import { PLAN_OPTIONS, wantedOf } from '../bench/plan/plan-options.js'
import { type Measured, planJson, planText } from '../bench/plan/report.js'
import { CLIENTS, type Row, rowsOf } from '../bench/rows.js'
import { serverCpuOf } from '../bench/server-cpu.js'
import { HEAD, jsonRow, rowLine } from '../bench/table.js'
import type { Page } from '../command.js'
import { closed, CONNECTION, connectionOf, opened, withClient } from '../connection.js'
import { restoreTerminal } from '../restore-terminal.js'
import { durationOf } from '../run/duration.js'
import { parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  duration: {
    type: 'string',
    default: '10s',
    value: 'DURATION',
    help: 'how long all rows together take, 1s to 10m (default 10s)',
  },
  prefix: {
    type: 'string',
    default: 'holdfast-bench',
    value: 'TEXT',
    help: 'what the names of its locks begin with, for a user who may only use some keys (default holdfast-bench)',
  },
  json: { type: 'boolean', default: false, help: 'one JSON object a line for each row' },
  ...PLAN_OPTIONS,
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['bench [options]'],
  about:
    'Measures how fast locks are on this server, from this machine. It uses locks with names of its own, and leaves nothing behind. It loads the server as much as one process can: other clients will notice.',
  options: OPTIONS,
  more: `Rows:
  an empty script         a round trip, and nothing else
  1 caller, 1 lock        acquires and releases, again and again
  64 callers, 64 locks    of one client, each with a lock of its own
  8 clients, 1 lock       a caller in each, as in eight processes: the server
                          hands the lock from one to the next
  8 clients, 1 fair lock  the same

Columns: how many pairs of acquire and release (or scripts) there are per
second; how long one takes, with the wait for the lock: half of them and 99 of
100 take no longer; and the CPU time for each, of the server's main thread,
whatever else it does (-: not known), and of this process.

With --plan, the figures of the rows say what a load takes of this server: how
busy the locks are, how long calls wait, how many requests and messages there
are, and what share of its main thread the server needs.

Examples:
  holdfast bench
  holdfast bench --plan --clients 200 --locks 50 --rate 2000 --hold 10ms
  holdfast bench --duration 1m --json
  holdfast bench --prefix app:bench

The exit code is 0; 64 wrong usage, 69 no server, 77 not permitted, 78 wrong
configuration.
`,
}

const lengthOf = (text: string): number => {
  const ms = durationOf(text, '--duration')
  if (ms >= 1000 && ms <= 600_000) return ms
  throw new UsageError('--duration must be from 1s to 10m')
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values } = parse({ args: [...args], options: OPTIONS })
  const ms = lengthOf(values.duration)
  const wanted = wantedOf(values)
  const options = connectionOf(values, process.env)
  return withClient(options, async (client) => {
    const clients: [Client, ...Client[]] = [client]
    const unguard = restoreTerminal({
      restore: () => undefined,
      stop: () => Promise.all(clients.map((one) => one.close())),
    })
    try {
      while (clients.length < CLIENTS) clients.push(await opened({ ...options, presence: false }))
      const figures = await printRows(rowsOf(clients, values.prefix), serverCpuOf(client), ms, values.json)
      if (wanted === undefined) return 0
      process.stdout.write(values.json ? `${planJson(wanted, figures)}\n` : `\n${planText(wanted, figures)}\n`)
    } finally {
      unguard()
      await Promise.all(clients.slice(1).map((one) => closed(one)))
    }
    return 0
  })
}

const printRows = async (rows: readonly Row[], serverCpu: ServerCpu, ms: number, json: boolean): Promise<Measured> => {
  if (!json) process.stdout.write(`${HEAD}\n`)
  const all: [Row['id'], Figures][] = []
  for (const row of rows) {
    const figures = await measured(row.works, ms / rows.length, serverCpu)
    process.stdout.write(`${json ? jsonRow(row, figures) : rowLine(row, figures)}\n`)
    all.push([row.id, figures])
  }
  return Object.fromEntries(all) as Measured
}
