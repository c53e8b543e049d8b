import type { ListedHolder, ListedLock } from '../../api/listing.js'
import { commandFor, whoIs } from '../locks/describe.js'
import { unknownAmong } from '../locks/signs.js'
import { spanOf } from '../text/time-span.js'
import type { Finding } from './finding.js'

/** For how many holders a command is shown. */
export const SHOWN = 5

/** The commands that release what these holders hold. `server`: the options that lead to it. */
export const releases = (
  lock: ListedLock,
  holders: readonly ListedHolder[],
  { server }: { readonly server: readonly string[] },
): readonly string[] => holders.slice(0, SHOWN).map(({ owner }) => commandFor(lock, owner, server))

/** Clients of holdfast that keep others waiting, have no label, and have never published their hold. */
export const unknownHolders = (
  lock: ListedLock,
  search: { readonly server: readonly string[] },
): readonly Finding[] => {
  const { name: about, kind, remaining = 0 } = lock
  const unknown = unknownAmong(lock)
  const [first] = unknown
  if (first === undefined) return []
  const what = `this ${kind} is held by ${whoIs(first)}, which has no label, for another ${spanOf(remaining)}, and calls wait for it`
  return [{ code: 'unknown-holder', about, what, run: releases(lock, unknown, search) }]
}
