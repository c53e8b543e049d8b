import { setTimeout as sleep } from 'node:timers/promises'
import { createInterface } from 'node:readline/promises'
import type { Client } from '../../api/client.js'
import type { ListedHolder, ListedKind, ListedLock, ListedWaiter } from '../../api/listing.js'
import { plainMessage, quoted } from '../../plain-text.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, withClient } from '../connection.js'
import { whoIs } from '../locks/describe.js'
import { holdIn, locksAt } from '../locks/find.js'
import { heldBy, isShared, KIND, kindOf, lockOf } from '../locks/listed-kinds.js'
import { notFound } from '../locks/not-found.js'
import { withoutSilent } from '../locks/places.js'
import { say } from '../say.js'
import { serverClock } from '../server-clock.js'
import { nameIn, parse, UsageError } from '../usage-error.js'

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

After a release, it says who holds the lock now. If the owner that you named no
longer holds it, nothing is released, the command says who does, and the exit
code is 1.

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
  const terminal = process.stdin.isTTY && process.stderr.isTTY
  if (force && !yes && !terminal) throw new UsageError('--force needs --yes if there is no terminal to ask in')
  return { name, owner, kind: kindOf(values.kind), asks: !yes && terminal }
}

type Values = ReturnType<typeof read>['values']

const read = (args: readonly string[]) => parse({ args: [...args], allowPositionals: true, options: OPTIONS })

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = read(args)
  const wanted = wantedOf(positionals, values)
  const work = async (client: Client): Promise<number> => {
    const found = await locksAt(client, wanted.name, wanted.kind)
    const [lock, holders] = holdIn(found, wanted.owner)
    if (lock === undefined) return notHeld(client, found, wanted)
    if (wanted.asks && !(await agrees(lock, holders))) {
      say('nothing was released')
      return 1
    }
    if (!(await release(client, lock, holders, wanted))) {
      say(`${quoted(wanted.name)} was released in the meantime`)
      return 1
    }
    if (lock.kind === 'keyedLock' && lock.more === true)
      say('others of its keys may stay locked until their leases end')
    const next = await nextOf(client, lock, holders)
    process.stdout.write(`released ${quoted(lock.name)}, which was held by ${firstOf(holders)}${next}\n`)
    return 0
  }
  // Others can read that it was released by force.
  return withClient(connectionOf(values, process.env), work, { presence: true })
}

/** Resolves to whether anything was released. */
const release = async (
  client: Client,
  lock: ListedLock,
  holders: readonly ListedHolder[],
  { owner, asks }: Wanted,
): Promise<boolean> => {
  if (owner === undefined && !asks) return lockOf(client, lock, heldBy(holders)).forceRelease()
  let released = false
  // While the user thought about it, others may have acquired the lock.
  for (const theirs of ownersOf(holders)) {
    const held = heldBy(holders.filter((one) => one.owner === theirs))
    if (await lockOf(client, lock, held).forceRelease({ owner: theirs })) released = true
  }
  return released
}

/** ms for which it looks who has the lock now, if calls wait for it. */
const LOOKED = 1500

/** What became of the lock. Empty: that is not known, for example because the user may not read it any more. */
const nextOf = async (client: Client, lock: ListedLock, before: readonly ListedHolder[]): Promise<string> => {
  const gone = new Set(ownersOf(before))
  const isMeant = meantBy(lock, before)
  try {
    const now = await serverClock(client)
    for (const end = performance.now() + LOOKED; ;) {
      // Who has just acquired it has not published of which kind it is.
      const all = await locksAt(client, lock.name, undefined)
      const found = all
        .filter(({ key, kind }) => key === lock.key && !isShared(kind))
        .map((one) => withoutSilent(one, now()))
      const holders = found.flatMap((one) => one.holders).filter(isMeant)
      const others = holders.filter(({ owner }) => !gone.has(owner))
      if (others.length > 0) return `; now held by ${firstOf(others)}`
      // A thread of Redisson is the same owner each time.
      if (holders.length > 0) return `; now held again by ${firstOf(holders)}`
      const waits = found.some(({ waiting }) => waiting.some(isMeant))
      if (!waits) return '; now free'
      if (performance.now() > end) return '; now free, and calls wait for it'
      await sleep(50)
    }
  } catch {
    return ''
  }
}

/** Of a group, only the keys that were released count. */
const meantBy = (
  { kind }: ListedLock,
  before: readonly ListedHolder[],
): ((one: ListedHolder | ListedWaiter) => boolean) => {
  const released = new Set(before.flatMap(({ keys = [] }) => keys))
  return ({ keys = [] }) => kind !== 'keyedLock' || keys.some((key) => released.has(key))
}

const ownersOf = (holders: readonly ListedHolder[]): readonly string[] => [
  ...new Set(holders.map(({ owner }) => owner)),
]

const ownedBy = (holder: ListedHolder): string => `${whoIs(holder)} (owner ${plainMessage(holder.owner)})`

/** The first of them, and how many others. */
const firstOf = (holders: readonly ListedHolder[], text: (holder: ListedHolder) => string = ownedBy): string => {
  const [first] = holders
  if (first === undefined) return 'nobody'
  const others = ownersOf(holders).length - 1
  return text(first) + (others < 1 ? '' : ` and ${others} ${others === 1 ? 'other' : 'others'}`)
}

/** Calls wait, but no owner has the lock at this moment. */
const freeText = (found: readonly ListedLock[], name: string): string => {
  const none = `no lock ${quoted(name)} is held`
  if (found.some(({ kind }) => isShared(kind))) return none
  const calls = found.reduce((sum, { waiting }) => sum + waiting.length, 0)
  return `${none}: it is free, and ${calls === 1 ? 'a call waits' : `${calls} calls wait`} for it, so there is nothing to release`
}

const notHeld = async (
  client: Client,
  found: readonly ListedLock[],
  { name, owner, kind }: Wanted,
): Promise<number> => {
  const holders = found.flatMap((lock) => lock.holders)
  const meant = owner === undefined ? [] : holders.filter((holder) => holder.owner.startsWith(owner))
  if (found.length === 0) say(await notFound(client, name, kind, 'unlock'))
  else if (holders.length === 0) say(freeText(found, name))
  else if (meant.length > 0) say(`that is only a part of an owner; the lock is held by ${firstOf(meant)}`)
  else say(`that owner does not hold ${quoted(name)}; it is held by ${firstOf(holders)}`)
  return 1
}

const agrees = async (lock: ListedLock, holders: readonly ListedHolder[]): Promise<boolean> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // After Ctrl-C or Ctrl-D there is no answer.
  const ended = new AbortController()
  lines.once('close', () => ended.abort())
  const question = `Release ${quoted(lock.name)}, which is held by ${firstOf(holders, whoIs)}? [y/N] `
  try {
    return /^y(es)?$/i.test((await lines.question(question, ended)).trim())
  } catch {
    return false
  } finally {
    lines.close()
  }
}
