import { setTimeout as sleep } from 'node:timers/promises'
import { globMatches } from '../../base/glob.js'
import type { Client } from '../../api/client.js'
import type { ListedLock, ListOptions } from '../../api/listing.js'
import { plainJson } from '../../plain-text.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, sameServer, withClient } from '../connection.js'
import { lockJson } from '../locks/json.js'
import { say } from '../say.js'
import { serverClock } from '../server-clock.js'
import { cutTo, widthOfOutput } from '../text/width.js'
import { chosenTrees, locksIn } from '../tree/chosen-trees.js'
import { dotOf } from '../tree/dot-graph.js'
import { drawn } from '../tree/draw-forest.js'
import { type Cycle, type Forest, forestOf, identityOf } from '../tree/wait-forest.js'
import { asUsage, parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  dot: { type: 'boolean', default: false, help: 'a graph for dot, of Graphviz' },
  json: {
    type: 'boolean',
    default: false,
    help: 'one JSON object a line: each lock that calls wait for, then each deadlock',
  },
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['tree [PATTERN] [options]'],
  about:
    'Shows which call waits for which: each lock that calls wait for, below it the waiters in their order, and below a waiter the locks that it holds meanwhile, if others wait for those. It ends with 1 if calls wait for one another. PATTERN selects trees and deadlocks that have a lock with such a name: * is any text, ? one character, [a-c] one of these.\n\nWhat a waiter holds meanwhile is known if its calls are nested, or have the same owner, and have waited for a second.',
  options: OPTIONS,
  more: `Examples:
  holdfast tree
  holdfast tree 'invoice:*'
  holdfast tree --dot | dot -Tsvg > locks.svg
  holdfast tree > /dev/null || echo deadlock

The exit code is 0, 1 if there is a deadlock; 64 wrong usage, 69 no server,
77 not permitted, 78 wrong configuration.
`,
}

/** ms between two readings. A deadlock is there in both. */
const BETWEEN = 500

const NONE = 'no call waits for a lock that was held or waited for longer than a second'

interface Seen {
  readonly locks: readonly ListedLock[]
  readonly forest: Forest
}

const seen = async (client: Client): Promise<Seen> => {
  const options: ListOptions = { waits: true }
  const locks: ListedLock[] = []
  for await (const lock of asUsage(() => client.list(options))) locks.push(lock)
  return { locks, forest: forestOf(locks) }
}

/** The locks of one reading come one after the other, so a deadlock counts only if the next reading shows the same. */
const proven = async (client: Client): Promise<Seen> => {
  const before = await seen(client)
  if (before.forest.cycles.length === 0) return before
  await sleep(BETWEEN)
  const { locks, forest } = await seen(client)
  const known = new Set(before.forest.cycles.map(identityOf))
  return { locks, forest: { ...forest, cycles: forest.cycles.filter((cycle) => known.has(identityOf(cycle))) } }
}

const cycleJson = (cycle: Cycle): string =>
  plainJson(
    {
      type: 'deadlock',
      calls: cycle.map(({ lock, holder, wait }) => ({
        ...{ holds: lock.name, owner: holder.owner, client: holder.client, label: holder.label ?? null },
        waitsFor: wait.name,
        since: wait.since,
      })),
    },
    0,
  )

/** Only what has a lock whose name matches. */
const matching = ({ locks, forest: all }: Seen, pattern: string): Seen => {
  const forest = chosenTrees(all, (name) => globMatches(pattern, name))
  const shown = locksIn(forest)
  return { locks: locks.filter((lock) => shown.has(lock)), forest }
}

const jsonOf = ({ locks, forest }: Seen, now: number): readonly string[] => [
  ...locks
    .filter(({ waiting }) => waiting.length > 0)
    .map((lock) => plainJson({ type: 'lock', ...lockJson(lock, now, true) }, 0)),
  ...forest.cycles.map(cycleJson),
]

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const [pattern, ...more] = positionals
  if (more.length > 0) throw new UsageError('tree takes one pattern: quote it, so that the shell does not expand it')
  if (values.dot && values.json) throw new UsageError('--dot and --json exclude each other')
  return withClient(connectionOf(values, process.env), async (client) => {
    const now = await serverClock(client)
    const all = await proven(client)
    const result = pattern === undefined ? all : matching(all, pattern)
    const width = widthOfOutput()
    const lines = values.json
      ? jsonOf(result, now())
      : values.dot
        ? dotOf(result.locks, result.forest)
        : // A command to copy must be whole.
          drawn(result.forest, now(), sameServer(values)).map((line) =>
            line.startsWith('  holdfast ') ? line : cutTo(line, width),
          )
    for (const line of lines) process.stdout.write(`${line}\n`)
    if (lines.length === 0 && process.stderr.isTTY) say(NONE)
    return result.forest.cycles.length > 0 ? 1 : 0
  })
}
