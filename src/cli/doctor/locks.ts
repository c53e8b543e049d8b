import type { Client } from '../../api/client.js'
import type { ListedLock, ScanProgress } from '../../api/listing.js'
import type { EngineError } from '../../errors.js'
import type { Probe } from '../../probe.js'
import { whoIs } from '../locks/describe.js'
import { isSilent, withoutSilent } from '../locks/places.js'
import { LONG } from '../locks/signs.js'
import { Progress } from '../locks/progress.js'
import { shellWord } from '../text/shell-word.js'
import { spanOf } from '../text/time-span.js'
import type { Finding } from './finding.js'
import { BlockedLocks } from './blocked-locks.js'
import { cliOf, isPart, isRefusal } from './server.js'
import { releases, SHOWN, unknownHolders } from './unknown-holders.js'

/** What is known about the locks of the server. */
export interface Locks {
  readonly count: number
  /** Whether all keys were looked at. */
  readonly scanned: boolean
  readonly findings: readonly Finding[]
}

/** How the locks are looked for. */
export interface Search {
  readonly scan: boolean
  /** ms that the scan may take. */
  readonly within: number
  /** The server's time. */
  readonly now: number
  /** The options that lead another command to the server. */
  readonly server: readonly string[]
}

/** What is wrong with the locks that are held or waited for. */
export const examineLocks = async (client: Client, probe: Probe, search: Search): Promise<Locks> => {
  const labels = await labelsOf(probe)
  const blocked = new BlockedLocks(search)
  const looked = await lookAt(client, probe, { ...search, blocked }, labels.length === 0).catch(
    (error: unknown): Locks => {
      if (!isPart(probe, error)) throw error
      return { count: 0, scanned: false, findings: [refusal(probe, 'listing the locks', error)] }
    },
  )
  return { ...looked, findings: [...labels, ...looked.findings, ...(await blocked.findings(client))] }
}

const refusal = ({ address: about }: Probe, question: string, error: EngineError): Finding => ({
  code: 'unseen',
  about,
  what: `${question} ${isRefusal(error) ? 'was refused' : 'got no answer'}: ${error.message}`,
})

/** Without labels, nobody knows who is dead. */
const labelsOf = async (probe: Probe): Promise<readonly Finding[]> => {
  try {
    await probe.readLabel()
    return []
  } catch (error) {
    if (!isPart(probe, error)) throw error
    // Of a node that is away, each row says whether its labels could be read.
    return isRefusal(error) ? [refusal(probe, 'reading the labels of clients', error)] : []
  }
}

const lookAt = async (
  client: Client,
  probe: Probe,
  { blocked, ...search }: Search & { readonly blocked: BlockedLocks },
  labelled: boolean,
): Promise<Locks> => {
  const { scan, within } = search
  const progress = new Progress()
  const signal = AbortSignal.timeout(within)
  let seen: ScanProgress = { looked: 0, keys: 0 }
  const onProgress = (now: ScanProgress): void => progress.step((seen = now))
  const faultsOf = (lock: ListedLock): readonly Finding[] => {
    blocked.note(withoutSilent(lock, search.now))
    return lockFaults(lock, probe, search, labelled)
  }
  try {
    if (!scan) return { ...(await counted(client.list(), faultsOf)), scanned: false }
    return { ...(await counted(client.list({ scan, signal, onProgress }), faultsOf)), scanned: true }
  } catch (error) {
    if (!scan || !signal.aborted) throw error
    const what = `the scan was stopped after ${spanOf(within)}, at ${seen.looked} of ${seen.keys} keys`
    const { count, findings } = await counted(client.list(), faultsOf)
    return { count, scanned: false, findings: [{ code: 'scan-unfinished', about: probe.address, what }, ...findings] }
  } finally {
    progress.end()
  }
}

const counted = async (
  locks: AsyncIterable<ListedLock>,
  faultsOf: (lock: ListedLock) => readonly Finding[],
): Promise<Pick<Locks, 'count' | 'findings'>> => {
  const findings: Finding[] = []
  let count = 0
  for await (const lock of locks) {
    count++
    findings.push(...faultsOf(lock))
  }
  return { count, findings }
}

const lockFaults = (lock: ListedLock, probe: Probe, search: Search, labelled: boolean): readonly Finding[] => {
  if (lock.remaining === Infinity) return [endless(lock, search)]
  if (!labelled) return []
  const holders = [
    ...deadHolders(lock, search),
    ...unknownHolders(withoutSilent(lock, search.now), search),
    ...unsureHolders(lock, probe),
  ]
  return [...holders, ...deadPlaces(lock, search)]
}

const endless = (lock: ListedLock, search: Search): Finding => {
  const [first] = lock.holders
  const who = first === undefined ? '' : `, held by ${whoIs(first)}`
  return {
    ...{ code: 'no-expiry', about: lock.name },
    what: `the key of this ${lock.kind} has no expiry${who}`,
    run: releases(lock, lock.holders, search),
  }
}

/** A client that is alive has a label. One that has none and published its hold has had a label before. */
const deadHolders = (lock: ListedLock, search: Search): readonly Finding[] => {
  const { name: about, kind, holders, remaining = 0 } = lock
  const dead = holders.filter(
    ({ label, labelUnknown, since }) => label === undefined && labelUnknown === undefined && since !== undefined,
  )
  const [first] = dead
  if (first === undefined || remaining <= LONG) return []
  const what = `this ${kind} is held by ${whoIs(first)}, which is silent, for another ${spanOf(remaining)}`
  return [{ code: 'dead-holder', about, what, run: releases(lock, dead, search) }]
}

/** Those that would be dead if their labels were known to be gone. */
const unsureHolders = (lock: ListedLock, probe: Probe): readonly Finding[] => {
  const { name: about, kind, holders, remaining = 0 } = lock
  const unsure = holders.filter(({ labelUnknown, since }) => labelUnknown !== undefined && since !== undefined)
  const [first] = unsure
  if (first === undefined || remaining <= LONG) return []
  const what = `this ${kind} is held by ${whoIs(first)}, for another ${spanOf(remaining)}; whether it is alive is not known`
  const cli = `${cliOf(probe.address, probe.masters[0])}${probe.cluster ? ' -c' : ''}`
  const run = unsure.slice(0, SHOWN).map(({ client }) => `${cli} TYPE ${shellWord(probe.labelKeyOf(client))}`)
  return [{ code: 'unreadable-label', about, what, run }]
}

const deadPlaces = ({ name: about, kind, waiting }: ListedLock, { now }: Search): readonly Finding[] => {
  const dead = waiting.filter((waiter) => isSilent(waiter, now))
  if (dead.length === 0) return []
  const what = `${dead.length} of ${waiting.length} places in the line of this ${kind} belong to processes that are silent`
  return [{ code: 'dead-place', about, what }]
}
