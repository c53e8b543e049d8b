import type { ListOptions } from '../../api/listing.js'
import type { Runtime } from '../../core/client/runtime.js'
import { EngineError } from '../../errors.js'
import { fairQueue, fencingCounter, slotOf } from '../../keys.js'
import { listingKindByLook } from '../../lua/scripts.gen.js'
import { integer, many, text, tuple } from '../../lua/reply-shape.js'
import type { PublishedClaims } from './published-claims.js'
import { isLeftOut, isPartAway, type SkippedLocks } from './skipped-locks.js'

/** How many keys one step of a scan looks at, and how many hashes one script. Each is well below a ms of the server. */
const STEP = 500
const HASHES = 50

interface ScanOptions extends Pick<Partial<ListOptions>, 'signal' | 'onProgress'> {
  readonly skipped: SkippedLocks
}

const scanned = tuple(text, many(text))

/**
 * Walks through all keys on every master, and claims the hashes that look like locks. It pauses for as long as the server was busy, so that other programs hardly
 * notice.
 */
export const scanKeys = async (runtime: Runtime, claims: PublishedClaims, options: ScanOptions): Promise<void> => {
  const { link } = runtime
  const sizes = await sizesOf(runtime, options.skipped)
  const keys = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  let looked = 0
  for (const node of sizes.keys()) {
    let cursor = '0'
    do {
      options.signal?.throwIfAborted()
      const began = runtime.options.clock.monotonic()
      const argv = ['SCAN', cursor, 'COUNT', STEP, 'TYPE', 'hash']
      const [next, hashes] = await link.command(argv, scanned, { node })
      await claimLocks(runtime, claims, hashes)
      cursor = next
      looked += STEP
      options.onProgress?.({ looked: Math.min(looked, keys), keys })
      await runtime.background.pause(Math.max(1, runtime.options.clock.monotonic() - began))
    } while (cursor !== '0')
  }
}

/** How many keys each master has. One of several that is away is left out. */
const sizesOf = async (runtime: Runtime, skipped: SkippedLocks): Promise<ReadonlyMap<string | undefined, number>> => {
  const { link } = runtime
  const sizes = new Map<string | undefined, number>()
  let away: EngineError | undefined
  const ask = async (node: string | undefined): Promise<void> => {
    try {
      sizes.set(node, await link.command(['DBSIZE'], integer, { node }))
    } catch (error) {
      if (!isPartAway(runtime, error)) throw error
      away = error
      skipped.addMaster(error)
    }
  }
  await Promise.all(link.masters.map(ask))
  if (away !== undefined && sizes.size === 0) throw away
  return sizes
}

const looksOf = ({ link }: Runtime, hashes: readonly string[]): Promise<readonly string[]> =>
  link.run(
    listingKindByLook,
    hashes.flatMap((key) => [key, fairQueue(key), fencingCounter(key)]),
    [],
  )

/** What each of these hashes looks like; empty if this user may not read it. */
const kindsOf = async (runtime: Runtime, hashes: readonly string[]): Promise<readonly string[]> => {
  try {
    return await looksOf(runtime, hashes)
  } catch (error) {
    if (!isLeftOut(error)) throw error
    if (hashes.length === 1) return ['']
    return (await Promise.all(hashes.map((key) => kindsOf(runtime, [key])))).flat()
  }
}

/** Claims the lock with this name, as a scan does that comes to its key. */
export const lookAt = async (runtime: Runtime, claims: PublishedClaims, name: string): Promise<void> => {
  const key = runtime.keyOf(name)
  try {
    const [kind = ''] = await looksOf(runtime, [key])
    claims.found(kind, key, name)
  } catch (error) {
    // A user who may use locks need not be permitted to scan. Each kind is claimed then: what the key is not is left out when it is inspected.
    if (error instanceof EngineError && error.code === 'NOPERM')
      for (const kind of ['lock', 'readWriteLock']) claims.found(kind, key, name)
    else if (!isLeftOut(error)) throw error
  }
}

const claimLocks = async (runtime: Runtime, claims: PublishedClaims, hashes: readonly string[]): Promise<void> => {
  const claim = async (part: readonly string[]): Promise<void> => {
    const kinds = await kindsOf(runtime, part)
    part.forEach((key, i) => claims.found(kinds[i] ?? '', key))
  }
  let [asked, together] = [[] as Promise<void>[], 0]
  for (const part of inOneSlot(hashes, runtime.link.cluster)) {
    // Small parts go together: a cluster's older nodes have hardly two keys of one slot in a step.
    if (together + part.length > HASHES) {
      await Promise.all(asked)
      asked = []
      together = 0
    }
    together += part.length
    asked.push(claim(part))
  }
  await Promise.all(asked)
}

/** A script takes keys of one slot. Nodes of newer servers scan slot by slot, so that such keys come together. */
const inOneSlot = (hashes: readonly string[], cluster: boolean): readonly string[][] => {
  const bySlot = new Map<number, string[][]>()
  for (const key of hashes) {
    const slot = cluster ? slotOf(key) : 0
    // Its companions are elsewhere: no client could use it as a lock.
    if (cluster && slotOf(fairQueue(key)) !== slot) continue
    const parts = bySlot.get(slot) ?? []
    bySlot.set(slot, parts)
    const last = parts.at(-1)
    if (last === undefined || last.length === HASHES) parts.push([key])
    else last.push(key)
  }
  return [...bySlot.values()].flat()
}
