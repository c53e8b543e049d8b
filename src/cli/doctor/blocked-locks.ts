import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../api/client.js'
import type { ListedHolder, ListedLock } from '../../api/listing.js'
import { whoIs } from '../locks/describe.js'
import { signsOf } from '../locks/signs.js'
import { plainText } from '../../plain-text.js'
import { shellWord } from '../text/shell-word.js'
import { spanOf } from '../text/time-span.js'
import { type Crossing, crossingsOf } from '../tree/crossings.js'
import type { Finding } from './finding.js'
import { LONG, releases } from './unknown-holders.js'

/** ms. Calls that wait for less are left alone: where many calls wait, clients wait crosswise for moments. */
const LONG_WAIT = 10_000
/** ms between two readings: a hold that is only passed on is not in both. */
const BETWEEN = 500
/** Of so many locks, the labels are read at the same time. */
const TOGETHER = 100

interface Search {
  /** The server's time. */
  readonly now: number
  /** The options that lead another command to the server. */
  readonly server: readonly string[]
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
    return [...(await this.#lateHolders(client)), ...(await this.#crosswise(client))]
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
  async #crosswise(client: Client): Promise<readonly Finding[]> {
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
    return crossingsOf(again, long).map((crossing) => findingOf(crossing, this.#search))
  }
}

const lateHolder = (lock: ListedLock, holder: ListedHolder, ago: number, search: Search): Finding => {
  const { name: about, kind, remaining = 0 } = lock
  const what = `this ${kind} is held by ${whoIs(holder)}, which has been silent for ${spanOf(ago)}, for another ${spanOf(remaining)}`
  return { code: 'dead-holder', about, what, run: releases(lock, [holder], search) }
}

const findingOf = (crossing: Crossing, { server }: Search): Finding => {
  const steps = crossing.map(
    ({ lock, holder, wanted }) =>
      `${whoIs(holder)} holds ${plainText(lock.name)} and waits for ${plainText(wanted.name)}`,
  )
  const run = [['holdfast', 'tree', ...server].map(shellWord).join(' ')]
  return { code: 'deadlock', about: crossing[0]?.lock.name ?? '', what: `perhaps a deadlock: ${steps.join('; ')}`, run }
}
