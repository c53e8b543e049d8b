import { setTimeout as sleep } from 'node:timers/promises'
import { globMatches } from '../../base/glob.js'
import type { Client } from '../../api/client.js'
import type { ListedLock, ListOptions } from '../../api/listing.js'
import { plainJson } from '../../plain-text.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, sameServer, withClient } from '../connection.js'
import { lockJson } from '../locks/json.js'
import { LeftOut } from '../locks/left-out.js'
import { withoutSilent } from '../locks/places.js'
import { say } from '../say.js'
import { serverClock } from '../server-clock.js'
import { cutTo, widthOfOutput } from '../text/width.js'
import { chosenTrees, locksIn } from '../tree/chosen-trees.js'
import { type Crossing, crossingsOf } from '../tree/crossings.js'
import { dotOf } from '../tree/dot-graph.js'
import { drawn } from '../tree/draw-forest.js'
import { type Cycle, type Forest, forestOf, identityOf } from '../tree/wait-forest.js'
import { asUsage, parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  dot: { type: 'boolean', default: false, help: 'a graph for dot, of Graphviz' },
  json: {
    type: 'boolean',
    default: false,
    help: 'one JSON object a line: each lock that calls wait for, then each deadlock, and each possible one',
  },
  possible: { type: 'boolean', default: false, help: 'end with 1 for a possible deadlock as well' },
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['tree [PATTERN] [options]'],
  about:
    'Shows which call waits for which: each lock that calls wait for, below it the waiters in their order, and below a waiter the locks that it holds meanwhile, if others wait for those. It ends with 1 if calls wait for one another.\n\nWhat a waiter holds meanwhile is known if its calls are nested, or have the same owner, and have waited for a second. Otherwise, nothing links what a client holds to what it waits for: if clients hold and wait crosswise, that is a possible deadlock. It is shown, and ends with 1 only with --possible. PATTERN selects trees and deadlocks that have a lock with such a name: * is any text, ? one character, [a-c] one of these.',
  options: OPTIONS,
  more: `Examples:
  holdfast tree
  holdfast tree 'invoice:*'
  holdfast tree --dot | dot -Tsvg > locks.svg
  holdfast tree --possible > /dev/null; [ $? -ne 1 ] || echo 'a deadlock?'

For an alarm, use --possible: of plain calls, a deadlock is a possible one.

The exit code is 1 if there is a deadlock, with --possible also if there is a
possible one; 0 if none was found, which is no proof that there is none;
64 wrong usage, 69 no server, or a master of a cluster that does not answer,
77 not permitted, 78 wrong configuration.
`,
}

/** ms between two readings. A deadlock is there in both. */
const BETWEEN = 500

const NONE = 'no call waits for a lock that was held or waited for longer than a second'
const NO_MATCH = 'no lock with such a name is in a tree or a deadlock'

interface Seen {
  readonly locks: readonly ListedLock[]
  readonly forest: Forest
  readonly possible: readonly Crossing[]
  readonly leftOut: LeftOut
}

/** A process that is silent waits for nothing. */
const seen = async (client: Client, now: () => number, before?: readonly ListedLock[]): Promise<Seen> => {
  const leftOut = new LeftOut()
  const options: ListOptions = { waits: true, onSkipped: leftOut.add }
  const locks: ListedLock[] = []
  for await (const lock of asUsage(() => client.list(options))) locks.push(withoutSilent(lock, now()))
  const forest = forestOf(locks)
  const sure = new Set(forest.cycles.flatMap((cycle) => cycle.map(({ holder }) => holder.owner)))
  const possible = crossingsOf(locks, before).filter(
    (crossing) => !crossing.some(({ holder }) => sure.has(holder.owner)),
  )
  return { locks, forest, possible, leftOut }
}

/** The locks of one reading come one after the other, so a deadlock counts only if the next reading shows the same. */
const proven = async (client: Client, now: () => number): Promise<Seen> => {
  const before = await seen(client, now)
  if (before.forest.cycles.length === 0 && before.possible.length === 0) return before
  await sleep(BETWEEN)
  const { locks, forest, possible, leftOut } = await seen(client, now, before.locks)
  const known = new Set(before.forest.cycles.map(identityOf))
  return {
    locks,
    possible,
    leftOut,
    forest: { ...forest, cycles: forest.cycles.filter((cycle) => known.has(identityOf(cycle))) },
  }
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
const matching = ({ locks, forest: all, possible, leftOut }: Seen, pattern: string): Seen => {
  const matches = (name: string): boolean => globMatches(pattern, name)
  const forest = chosenTrees(all, matches)
  const shown = locksIn(forest)
  return {
    locks: locks.filter((lock) => shown.has(lock)),
    forest,
    possible: possible.filter((crossing) => crossing.some(({ lock }) => matches(lock.name))),
    leftOut,
  }
}

const crossingJson = (crossing: Crossing): string =>
  plainJson(
    {
      type: 'possible-deadlock',
      calls: crossing.map(({ lock, holder, wanted, waiter }) => ({
        ...{ holds: lock.name, owner: holder.owner, client: holder.client, label: holder.label ?? null },
        waitsFor: wanted.name,
        since: waiter.since ?? null,
      })),
    },
    0,
  )

const jsonOf = ({ locks, forest, possible }: Seen, now: number): readonly string[] => [
  ...locks
    .filter(({ waiting }) => waiting.length > 0)
    .map((lock) => plainJson({ type: 'lock', ...lockJson(lock, now, true) }, 0)),
  ...forest.cycles.map(cycleJson),
  ...possible.map(crossingJson),
]

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const [pattern, ...more] = positionals
  if (more.length > 0) throw new UsageError('tree takes one pattern: quote it, so that the shell does not expand it')
  if (values.dot && values.json) throw new UsageError('--dot and --json exclude each other')
  return withClient(connectionOf(values, process.env), async (client) => {
    const now = await serverClock(client)
    const all = await proven(client, now)
    const result = pattern === undefined ? all : matching(all, pattern)
    const width = widthOfOutput()
    const lines = values.json
      ? jsonOf(result, now())
      : values.dot
        ? dotOf(result.locks, result.forest, result.possible)
        : // A command to copy must be whole.
          drawn(result.forest, now(), sameServer(values), result.possible).map((line) =>
            line.startsWith('  holdfast ') ? line : cutTo(line, width),
          )
    for (const line of lines) process.stdout.write(`${line}\n`)
    if (lines.length === 0 && process.stderr.isTTY) say(pattern === undefined ? NONE : NO_MATCH)
    const found = result.forest.cycles.length + (values.possible ? result.possible.length : 0)
    const unread = result.leftOut.report()
    return found > 0 ? 1 : unread
  })
}
