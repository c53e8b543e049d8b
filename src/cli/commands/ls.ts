import type { Client } from '../../api/client.js'
import type { ListedLock, ListOptions } from '../../api/listing.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, withClient } from '../connection.js'
import { cellsOf, columnsHelp, columnsOf, TITLES, titlesOf } from '../locks/columns.js'
import { chosenOf, CLIENTS, doingOf } from '../locks/filter.js'
import { jsonLine } from '../locks/json.js'
import { ANY_KIND, anyKindOf } from '../locks/listed-kinds.js'
import { LeftOut } from '../locks/left-out.js'
import { isBlocked, withoutSilent } from '../locks/places.js'
import { Progress } from '../locks/progress.js'
import { say } from '../say.js'
import { serverClock } from '../server-clock.js'
import { shellWord } from '../text/shell-word.js'
import { tableOf } from '../text/table.js'
import { widthOfOutput } from '../text/width.js'
import { type Order, ordered, orderOf, ORDERS } from '../top/order.js'
import { asUsage, parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  columns: {
    type: 'string',
    short: 'o',
    value: 'COLUMNS',
    words: TITLES,
    help: 'which columns, with commas between them; +COLUMNS are shown behind the usual ones',
  },
  json: { type: 'boolean', default: false, help: 'one JSON object a line for each lock' },
  blocked: {
    type: 'boolean',
    default: false,
    help: 'only locks for which a call has waited for longer than a second; also shows WAITED and WAITER. Calls of clients without a label always count',
  },
  sort: {
    type: 'string',
    value: 'COLUMN',
    words: ORDERS,
    help: `by which column: ${ORDERS.join(', ')} (default NAME). The longest wait, the most waiters, the oldest hold or the shortest lease comes first`,
  },
  scan: {
    type: 'boolean',
    default: false,
    help: 'look at all keys of the server, in small steps: also finds locks of Redisson, and those held for less than a second',
  },
  ...CLIENTS,
  ...ANY_KIND,
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['ls [PATTERN] [options]'],
  about:
    "Lists the locks that holdfast's clients have held or waited for longer than a second, and the semaphores, rate limiters and latches that calls wait for. PATTERN selects names: * is any text, ? one character, [a-c] one of these.",
  options: OPTIONS,
  more: `Columns:
${columnsHelp()}
In a terminal, long names and labels are cut to its width.

Examples:
  holdfast ls
  holdfast ls --blocked --sort WAITED
  holdfast ls 'invoice:*' -o NAME,LABEL,WAITING,WAITED
  holdfast ls --label 'web-3:*'     # what these clients hold and wait for
  holdfast ls --json | jq -r 'select(.remaining == -1).name'

The exit code is 0, also if there is no lock; 64 wrong usage, 69 no server, or a
master of a cluster that does not answer (the locks of the others are listed),
77 not permitted, 78 wrong configuration.
`,
}

const NONE = 'found none among the locks that were held or waited for longer than a second; --scan also finds others'

/** A pattern without such a sign matches one name only. */
const PATTERN = /[*?[\\]/

const noneText = (scan: boolean, pattern: string | undefined): string => {
  const none = scan ? 'found none' : NONE
  if (pattern === undefined || PATTERN.test(pattern)) return none
  return `${none}. PATTERN is the whole name, unless it has a *: try ${shellWord(`*${pattern}*`)}`
}

const write = (line: string): void => void process.stdout.write(`${line}\n`)

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const [pattern, ...more] = positionals
  if (more.length > 0) throw new UsageError('ls takes one pattern: quote it, so that the shell does not expand it')
  const chosen = chosenOf(values)
  const titles = titlesOf(values.columns, { blocked: values.blocked, choosing: chosen !== undefined })
  const kind = anyKindOf(values.kind)
  const order = values.sort === undefined ? undefined : orderOf(values.sort)
  return withClient(connectionOf(values, process.env), async (client) => {
    const now = await serverClock(client)
    const rows: (readonly string[])[] = []
    const leftOut = new LeftOut()
    let blocked = 0
    const found = locksOf(client, { pattern, kind, scan: values.scan, onSkipped: leftOut.add })
    const wanted = values.blocked ? blockedOf(found, now) : found
    for await (const lock of order === undefined ? wanted : sortedBy(order, wanted, now)) {
      const living = withoutSilent(lock, now())
      if (chosen !== undefined && doingOf(living, chosen) === '') continue
      if (isBlocked(lock, now())) blocked++
      if (values.json) write(jsonLine(lock, now()))
      else rows.push(cellsOf(titles, living, { now: now(), chosen }))
    }
    if (values.json) return leftOut.report()
    if (rows.length === 0 && process.stderr.isTTY) say(noneText(values.scan, pattern))
    for (const line of tableOf(columnsOf(titles), rows, widthOfOutput())) write(line)
    if (!values.blocked && blocked > 0 && process.stdout.isTTY)
      say(`${rows.length} rows, ${blocked} blocked: --blocked shows only those`)
    return leftOut.report()
  })
}

async function* blockedOf(locks: AsyncIterable<ListedLock>, now: () => number): AsyncGenerator<ListedLock, undefined> {
  for await (const lock of locks) if (isBlocked(lock, now())) yield lock
  return undefined
}

async function* sortedBy(
  order: Order,
  locks: AsyncIterable<ListedLock>,
  now: () => number,
): AsyncGenerator<ListedLock, undefined> {
  const all: ListedLock[] = []
  for await (const lock of locks) all.push(lock)
  const whole = new Map(all.map((lock) => [withoutSilent(lock, now()), lock]))
  for (const lock of ordered([...whole.keys()], order, false)) yield whole.get(lock) ?? lock
  return undefined
}

async function* locksOf(client: Client, options: ListOptions): AsyncGenerator<ListedLock, undefined> {
  const progress = new Progress()
  const list = asUsage(() => client.list({ ...options, onProgress: progress.step }))
  try {
    for await (const lock of list) {
      progress.end()
      yield lock
    }
  } finally {
    progress.end()
  }
  return undefined
}
