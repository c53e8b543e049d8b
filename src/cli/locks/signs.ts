import type { Client } from '../../api/client.js'
import type { ListedHolder, ListedLock } from '../../api/listing.js'
import { type LabelState, probeOf } from '../../probe.js'

/** What the server shows of the client of a holder. `ago`: ms since it last wrote its label; `lease`: for how long it writes it. */
export type Sign =
  | { readonly is: 'alive' | 'overdue'; readonly ago: number; readonly lease: number }
  | { readonly is: 'labelled' | 'silent' | 'unlabelled' | 'redisson' | 'unknown' }

/** By the holder. */
export type Signs = ReadonlyMap<ListedHolder, Sign>

/** How many holders of one lock are looked at. */
const LOOKED_AT = 100

/** A label is written each third of its lease. A client that is late by more than this many ms beyond half of it is not only busy. */
const LATE = 1000

/** A client of holdfast has an 8 there, and one of Redisson, whose ids are random, a 4. */
export const isOfRedisson = ({ client }: Pick<ListedHolder, 'client'>): boolean => client[14] === '4'

/** What can be said without asking about the label. One who has published its hold has had a label before. */
export const signOf = (holder: ListedHolder): Sign => {
  if (holder.label !== undefined) return { is: 'labelled' }
  if (holder.labelUnknown !== undefined) return { is: 'unknown' }
  if (holder.since !== undefined) return { is: 'silent' }
  return { is: isOfRedisson(holder) ? 'redisson' : 'unlabelled' }
}

const writtenAt = (holder: ListedHolder, { text, left }: LabelState): Sign => {
  if (text === null) return signOf({ ...holder, label: undefined, labelUnknown: undefined })
  // Another program has written it.
  if (holder.label === undefined) return { is: 'unknown' }
  const lease = leaseIn(text)
  if (lease === undefined || left < 0 || left > lease) return { is: 'labelled' }
  const ago = lease - left
  return { is: ago > lease / 2 + LATE ? 'overdue' : 'alive', ago, lease }
}

/** Another program may have written anything. */
const leaseIn = (text: string): number | undefined => {
  try {
    const { lease } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return Number.isSafeInteger(lease) ? (lease as number) : undefined
  } catch {
    return undefined
  }
}

/** Asks about the labels of the holders of these locks. */
export const signsOf = async (client: Client, locks: readonly ListedLock[]): Promise<Signs> => {
  const probe = probeOf(client)
  const read = async (holder: ListedHolder): Promise<readonly [ListedHolder, Sign]> => {
    try {
      return [holder, writtenAt(holder, await probe.labelOf(holder.client))]
    } catch {
      // Labels are optional: the user may not be permitted to read them.
      return [holder, { is: 'unknown' }]
    }
  }
  return new Map(await Promise.all(locks.flatMap(({ holders }) => holders.slice(0, LOOKED_AT).map(read))))
}

/** Whether nothing says that the client of this holder is alive, and something that it is not. */
export const seemsGone = ({ is }: Sign): boolean => is === 'overdue' || is === 'silent'

/** ms. A lease that is over before that is left to end. */
export const LONG = 60_000

/** Holders that keep others waiting for long, have no label, and have never published their hold: they ended within a second, or write no labels. */
export const unknownAmong = ({ holders, waiting, remaining = 0 }: ListedLock): readonly ListedHolder[] =>
  waiting.length === 0 || remaining <= LONG ? [] : holders.filter((holder) => signOf(holder).is === 'unlabelled')
