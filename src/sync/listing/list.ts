import type { ListedLock, ListOptions } from '../../api/listing.js'
import { globMatches } from '../../base/glob.js'
import {
  checkFlag,
  checkFunction,
  checkName,
  checkOptions,
  checkSignal,
  checkWords,
  OPTIONS,
  show,
} from '../../check-arguments.js'
import { isTransient } from '../../core/server/transient-or-unsure-errors.js'
import { registerKey } from '../../keys.js'
import { type Claim, PublishedClaims } from './published-claims.js'
import { isLeftOut, isPartAway, SkippedLocks } from './skipped-locks.js'
import { listable } from './kinds-in-one-row.js'
import { lookAt, scanKeys } from './scan-keys.js'
import { partsOf } from './inspect-some.js'
import { type ListHome, nameOf } from './listed-lock.js'
import { ReadLocks } from './read-locks.js'

export type { ListHome }

/** How many locks are asked about at a time, some ms of the server, and how many such groups are asked for ahead. */
const TOGETHER = 256
const AHEAD = 2

const checked = (options: ListOptions | undefined): Partial<ListOptions> => {
  const read = checkOptions(options, OPTIONS.list)
  if (read.pattern !== undefined) checkWords(read.pattern, 'pattern')
  if (read.name !== undefined) {
    checkName(read.name)
    if (read.pattern !== undefined || read.scan === true)
      throw new TypeError('name excludes pattern and scan: the lock with that name is looked at directly')
  }
  if (read.signal !== undefined) checkSignal(read.signal, 'signal')
  if (read.kind !== undefined && listable(read.kind) === undefined)
    throw new TypeError(`kind must be one that can be listed, not ${show(read.kind)}`)
  if (read.scan !== undefined) checkFlag(read.scan, 'scan')
  if (read.waits !== undefined) checkFlag(read.waits, 'waits')
  for (const option of ['onProgress', 'onSkipped'] as const)
    if (read[option] !== undefined) checkFunction(read[option], option)
  return read
}

/** The locks that are held or waited for, each as the server sees it when it is yielded. */
export const listLocks = (home: ListHome, options: ListOptions | undefined): AsyncIterableIterator<ListedLock> => {
  // Wrong options throw here, and not at the first step of the loop.
  const read = checked(options)
  return rows(home, read)
}

async function* rows(
  home: ListHome,
  { name, pattern, kind, scan, waits, onProgress, onSkipped, signal }: Partial<ListOptions>,
): AsyncGenerator<ListedLock, undefined> {
  const { runtime } = home
  signal?.throwIfAborted()
  const skipped = new SkippedLocks(runtime, onSkipped)
  const claims = new PublishedClaims(runtime, skipped)
  await runtime
    .untilClosed(() => claims.read())
    .catch((error: unknown) => {
      // The server is asked about the locks themselves. If it shows none, those that are found through clients may be missing.
      const others = name !== undefined || scan === true
      if (!others || (!isLeftOut(error) && !isPartAway(runtime, error))) throw error
      skipped.add(runtime.keyOf(registerKey()), error, name)
    })
  if (scan === true) await runtime.untilClosed(() => scanKeys(runtime, claims, { signal, onProgress, skipped }))
  if (name !== undefined) await runtime.untilClosed(() => lookAt(runtime, claims, name))
  const reading = new ReadLocks(home, skipped, waits === true)
  // The name is known before the server is asked.
  const matches = (claim: Claim): boolean =>
    (name === undefined || claim.key === runtime.keyOf(name)) &&
    (pattern === undefined || globMatches(pattern, nameOf(claim, home)))
  const wanted = claims.all.filter((claim) => (kind === undefined || claim.shown.kind === kind) && matches(claim))
  const step = (some: readonly Claim[]) => runtime.untilClosed(() => reading.rows(some))
  let found = false
  for await (const some of inOrder(partsOf(wanted, TOGETHER), step)) {
    for (const row of some) {
      signal?.throwIfAborted()
      found = true
      yield row
    }
    signal?.throwIfAborted()
  }
  // A list leaves out what cannot be read. If that is everything, or a lock that was asked for by its name, it would look free.
  const refused = name === undefined ? skipped.first : skipped.firstNamed
  if (refused !== undefined && !found && (name !== undefined || isTransient(refused))) throw refused
  return undefined
}

/** The results in the order of the items. Some are in progress ahead of the one that is waited for. */
async function* inOrder<T, R>(items: readonly T[], step: (item: T) => Promise<R>): AsyncGenerator<R, undefined> {
  const running: Promise<R>[] = []
  for (let next = 0; next < items.length || running.length > 0;) {
    while (next < items.length && running.length < AHEAD) {
      const result = step(items[next++] as T)
      // If the loop ends early, nobody waits for it.
      result.catch(() => undefined)
      running.push(result)
    }
    yield await (running.shift() as Promise<R>)
  }
  return undefined
}
