import type { Client } from '../../api/client.js'
import type { ListedLock } from '../../api/listing.js'
import { whoIs } from '../locks/describe.js'
import { locksAt } from '../locks/find.js'
import { shellWord } from '../text/shell-word.js'
import { type Crossing, crossingsOf } from '../tree/crossings.js'
import type { Finding } from './finding.js'

/** ms. Calls that wait for less are left alone: where many calls wait, clients wait crosswise for moments. */
const LONG_WAIT = 10_000

interface Search {
  /** The server's time. */
  readonly now: number
  /** The options that lead another command to the server. */
  readonly server: readonly string[]
}

/** Finds clients that hold and wait crosswise. */
export class Crosswise {
  readonly #search: Search
  readonly #blocked: ListedLock[] = []

  constructor(search: Search) {
    this.#search = search
  }

  note(lock: ListedLock): void {
    const { now } = this.#search
    const long = lock.waiting.filter(({ since = now }) => since <= now - LONG_WAIT)
    if (long.length > 0) this.#blocked.push({ ...lock, waiting: long })
  }

  /** The locks of one reading are not read at the same moment, so those in question are read once more. */
  async findings(client: Client): Promise<readonly Finding[]> {
    const names = new Set(crossingsOf(this.#blocked).flatMap((crossing) => crossing.map(({ lock }) => lock.name)))
    if (names.size === 0) return []
    const again: ListedLock[] = []
    for (const name of names) again.push(...(await locksAt(client, name, undefined)))
    return crossingsOf(again, this.#blocked).map((crossing) => findingOf(crossing, this.#search))
  }
}

const findingOf = (crossing: Crossing, { server }: Search): Finding => {
  const steps = crossing.map(
    ({ lock, holder, wanted }) => `${whoIs(holder)} holds ${lock.name} and waits for ${wanted.name}`,
  )
  const run = [['holdfast', 'tree', ...server].map(shellWord).join(' ')]
  return { code: 'deadlock', about: crossing[0]?.lock.name ?? '', what: `perhaps a deadlock: ${steps.join('; ')}`, run }
}
