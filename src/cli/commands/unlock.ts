import { createInterface } from 'node:readline/promises'
import type { ListedHolder, ListedKind, ListedLock } from '../../api/listing.js'
import { plainMessage, quoted } from '../../plain-text.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, withClient } from '../connection.js'
import { whoIs } from '../locks/describe.js'
import { locksAt } from '../locks/find.js'
import { type Held, KIND, kindOf, lockOf } from '../locks/kinds.js'
import { say } from '../run/say.js'
import { nameIn, parse, UsageError } from '../usage.js'

const OPTIONS = {
  owner: {
    type: 'string',
    value: 'OWNER',
    help: 'release only what this owner holds: the whole owner, as holdfast show prints it',
  },
  force: { type: 'boolean', default: false, help: 'release the lock, whatever its owner is' },
  yes: { type: 'boolean', short: 'y', default: false, help: 'do not ask' },
  ...KIND,
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['unlock NAME --owner OWNER [options]', 'unlock NAME --force --yes [options]'],
  about:
    'Releases a lock that another process holds. The next waiter gets it, as if the holder had released it. The holder learns of it at its next renewal, and may work beside the next holder until then: end it first.\n\n--owner is the safe way: if another owner has acquired the lock meanwhile, nothing is released.',
  options: OPTIONS,
  more: `In a terminal, the command asks first, unless you write --yes.

Examples:
  holdfast show deploy              # prints the owner, and the whole command
  holdfast unlock deploy --owner 6f9b3c1e-8f0a-4c5d-9a53-1d2b7a6f0c11:4711
  holdfast unlock deploy --force --yes

The exit code is 0 if it was released; 1 if that owner did not hold it, or, with
--force, if it was free, or if you said no; 64 wrong usage, 69 no server,
77 not permitted, 78 wrong configuration.
`,
}

/** What is to be released. */
interface Wanted {
  readonly name: string
  /** Undefined: whatever the owner is. */
  readonly owner: string | undefined
  readonly kind: ListedKind | undefined
  readonly asks: boolean
}

const wantedOf = (positionals: readonly string[], values: Values): Wanted => {
  const { owner, force, yes } = values
  const name = nameIn(positionals)
  if (force === (owner !== undefined)) throw new UsageError('write either --owner OWNER or --force')
  if (owner === '') throw new UsageError('--owner must not be empty')
  if (force && !yes && !process.stdin.isTTY)
    throw new UsageError('--force needs --yes if there is no terminal to ask in')
  return { name, owner, kind: kindOf(values.kind), asks: !yes && process.stdin.isTTY }
}

type Values = ReturnType<typeof read>['values']

const read = (args: readonly string[]) => parse({ args: [...args], allowPositionals: true, options: OPTIONS })

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = read(args)
  const wanted = wantedOf(positionals, values)
  return withClient(connectionOf(values, process.env), async (client) => {
    const found = await locksAt(client, wanted.name, wanted.kind)
    const [lock, holders] = holdIn(found, wanted)
    const [first] = holders
    if (lock === undefined || first === undefined) return notHeld(found, wanted)
    if (wanted.asks && !(await agrees(lock, first))) {
      say('nothing was released')
      return 1
    }
    const options = wanted.owner === undefined ? {} : { owner: wanted.owner }
    if (!(await lockOf(client, lock, heldBy(holders)).forceRelease(options))) {
      say(`${quoted(wanted.name)} was released in the meantime`)
      return 1
    }
    process.stdout.write(`released ${quoted(lock.name)}, which was held by ${holderText(first)}\n`)
    return 0
  })
}

/**
 * The lock, and those of its holders that are to lose it. One hold may be shown as two kinds that look alike on the server, if calls wait for both: then it is of the
 * kind that its client has published.
 */
const holdIn = (
  found: readonly ListedLock[],
  { owner }: Wanted,
): readonly [ListedLock | undefined, readonly ListedHolder[]] => {
  const held = found
    .map((lock) => [lock, lock.holders.filter((one) => owner === undefined || one.owner === owner)] as const)
    .filter(([, holders]) => holders.length > 0)
  return held.find(([, holders]) => holders.some(({ since }) => since !== undefined)) ?? held[0] ?? [undefined, []]
}

/** A write by force ends the reads of its owner as well. */
const heldBy = (holders: readonly ListedHolder[]): Held => ({
  mode: holders.find(({ mode }) => mode === 'write')?.mode ?? holders[0]?.mode ?? 'exclusive',
  keys: [...new Set(holders.flatMap(({ keys = [] }) => keys))],
})

const holderText = (holder: ListedHolder): string => `${whoIs(holder)} (owner ${plainMessage(holder.owner)})`

const notHeld = (found: readonly ListedLock[], { name, owner }: Wanted): number => {
  const holders = found.flatMap((lock) => lock.holders)
  const [first] = holders
  if (first === undefined || owner === undefined) say(`${quoted(name)} is not held`)
  else {
    const part = holders.some((holder) => holder.owner.startsWith(owner))
    const why = part ? 'that is only a part of an owner; the lock' : `that owner does not hold ${quoted(name)}; it`
    say(`${why} is held by ${holderText(first)}${holders.length > 1 ? ` and ${holders.length - 1} others` : ''}`)
  }
  return 1
}

const agrees = async (lock: ListedLock, holder: ListedHolder): Promise<boolean> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // After Ctrl-C or Ctrl-D there is no answer.
  const ended = new AbortController()
  lines.once('close', () => ended.abort())
  const question = `Release ${quoted(lock.name)}, which is held by ${whoIs(holder)}? [y/N] `
  try {
    return /^y(es)?$/i.test((await lines.question(question, ended)).trim())
  } catch {
    return false
  } finally {
    lines.close()
  }
}
