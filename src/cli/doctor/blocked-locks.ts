import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../api/client.js'
import type { ListedHolder, ListedLock, ListedWaiter } from '../../api/listing.js'
import { whoIs } from '../locks/describe.js'
import { LONG, signOf, signsOf } from '../locks/signs.js'
import { plainText } from '../../plain-text.js'
import { shellWord } from '../text/shell-word.js'
import { spanOf } from '../text/time-span.js'
import { type Crossing, crossingsOf } from '../tree/crossings.js'
import type { Finding } from './finding.js'
import { releases } from './unknown-holders.js'

/** ms. Calls that wait for less are left alone: where many calls wait, clients wait crosswise for moments. */
const LONG_WAIT = 10_000
/** ms between two readings: a hold that is only passed on is not in both. */
const BETWEEN = 500
/** So many locks are asked about at the same time. */
const TOGETHER = 100

interface Search {
  /** The server's time. */
  readonly now: number
  /** The options that lead another command to the server. */
  readonly server: readonly string[]
}

interface Crosswise {
  readonly finding: Finding
  /** Its locks. */
  readonly names: readonly string[]
}

/** Locks that calls wait for, which can be judged only when all are known, or with more questions. */
export class BlockedLocks {
  readonly #search: Search
  readonly #byKey = new Map<string, ListedLock>()

  constructor(search: Search) {
    this.#search = search
  }

  note(lock: ListedLock): void {
    if (lock.waiting.length > 0) this.#byKey.set(`${lock.kind} ${lock.key}`, lock)
  }

  get #all(): readonly ListedLock[] {
    return [...this.#byKey.values()]
  }

  async findings(client: Client): Promise<readonly Finding[]> {
    const late = await this.#lateHolders(client)
    const crosswise = await this.#crosswise(client)
    const known = new Set([...late.map(({ about }) => about), ...crosswise.flatMap(({ names }) => names)])
    return [...late, ...crosswise.map(({ finding }) => finding), ...(await this.#longWaits(client, known))]
  }

  /** Holders that live, and keep calls waiting for long. A lock that changes hands has a holder that has not been there for long. */
  async #longWaits(client: Client, known: ReadonlySet<string>): Promise<readonly Finding[]> {
    const long = this.#all
      .filter(({ name }) => !known.has(name))
      .flatMap((lock) => longWait(lock, this.#search).map((finding) => [lock, finding] as const))
    const findings: Finding[] = []
    for (let from = 0; from < long.length; from += TOGETHER) {
      const some = long.slice(from, from + TOGETHER)
      const led = await Promise.all(some.map(([lock]) => isLed(client, lock)))
      findings.push(...some.filter((_, i) => led[i] === false).map(([, finding]) => finding))
    }
    return findings
  }

  /** A label with a long lease is there long after its client has died, but it is not written any more. */
  async #lateHolders(client: Client): Promise<readonly Finding[]> {
    const long = this.#all
      .filter(({ remaining = 0 }) => remaining > LONG && remaining < Infinity)
      .map((lock) => ({ ...lock, holders: lock.holders.filter(({ label }) => label !== undefined) }))
    const late: Finding[] = []
    for (let from = 0; from < long.length; from += TOGETHER) {
      const some = long.slice(from, from + TOGETHER)
      const signs = await signsOf(client, some)
      for (const lock of some)
        for (const holder of lock.holders) {
          const sign = signs.get(holder)
          if (sign?.is === 'overdue') late.push(lateHolder(lock, holder, sign.ago, this.#search))
        }
    }
    return late
  }

  /** The locks of one reading are not read at the same moment, so those in question are read once more. */
  async #crosswise(client: Client): Promise<readonly Crosswise[]> {
    const { now } = this.#search
    const isLong = ({ since = now }: { readonly since?: number | undefined }): boolean => since <= now - LONG_WAIT
    const long = this.#all.map(({ holders, waiting, ...lock }) => ({
      ...lock,
      holders: holders.filter(isLong),
      waiting: waiting.filter(isLong),
    }))
    const names = new Set(crossingsOf(long).flatMap((crossing) => crossing.map(({ lock }) => lock.name)))
    if (names.size === 0) return []
    const again: ListedLock[] = []
    await sleep(BETWEEN)
    for await (const lock of client.list()) if (names.has(lock.name)) again.push(lock)
    return crossingsOf(again, long).map((crossing) => ({
      finding: findingOf(crossing, this.#search),
      names: crossing.map(({ lock }) => lock.name),
    }))
  }
}

const lateHolder = (lock: ListedLock, holder: ListedHolder, ago: number, search: Search): Finding => {
  const { name: about, kind, remaining = 0 } = lock
  const what = `this ${kind} is held by ${whoIs(holder)}, which has been silent for ${spanOf(ago)}, for another ${spanOf(remaining)}`
  return { code: 'dead-holder', about, what, run: releases(lock, [holder], search) }
}

/** Of a holder that is silent, that has no expiry, or that nothing is known of, other findings say more. */
const longWait = (lock: ListedLock, { now, server }: Search): readonly Finding[] => {
  const { name: about, kind, holders, waiting, remaining } = lock
  const isLong = ({ since = now }: ListedHolder | ListedWaiter): boolean => since <= now - LONG
  const holder = holders.find((one) => isLong(one) && signOf(one).is === 'labelled')
  const calls = waiting.filter(isLong)
  const since = calls.reduce((least, one) => Math.min(least, one.since ?? now), now)
  if (holder === undefined || calls.length === 0 || remaining === Infinity) return []
  const others = calls.length === 1 ? '' : ` (and ${calls.length - 1} more for over a minute)`
  const what = `a call has waited for ${spanOf(now - since)}${others} for this ${kind}, which ${whoIs(holder)} has held for ${spanOf(now - (holder.since ?? now))}`
  return [{ code: 'long-wait', about, what, run: [showCommand(lock, server)] }]
}

/** Whether a leader holds it: then those that wait are candidates, who stand by for as long as it leads. */
const isLed = async (client: Client, { name, kind, holders }: ListedLock): Promise<boolean> => {
  if (kind !== 'fencedLock') return false
  try {
    const leader = await client.election(name).leader()
    return leader !== undefined && holders.some((holder) => holder.client === leader.client)
  } catch {
    // This user may not read it, or the name cannot be used.
    return false
  }
}

const showCommand = ({ name }: ListedLock, server: readonly string[]): string =>
  ['holdfast', 'show', ...server, ...(name.startsWith('-') ? ['--'] : []), name].map(shellWord).join(' ')

const findingOf = (crossing: Crossing, { server }: Search): Finding => {
  const steps = crossing.map(
    ({ lock, holder, wanted }) =>
      `${whoIs(holder)} holds ${plainText(lock.name)} and waits for ${plainText(wanted.name)}`,
  )
  const run = [['holdfast', 'tree', ...server].map(shellWord).join(' ')]
  return { code: 'deadlock', about: crossing[0]?.lock.name ?? '', what: `perhaps a deadlock: ${steps.join('; ')}`, run }
}
