import { isSameValue } from './keep-unchanged.js'
import { type ChangedLock, MOST_PAST, type Past, type Person, type ShownLock, WINDOW } from './page-messages.js'

type Field = keyof ShownLock

/** What differs in these has a form of its own. */
const APART: ReadonlySet<Field> = new Set(['past', 'waiting'])

/** A page knows who waited, and who held it. */
const waitingOf = ({ waiting }: ShownLock, before: ShownLock): ChangedLock['waiting'] =>
  isSameValue(waiting, before.waiting) ? undefined : waiting.map((one) => (before.waiting.includes(one) ? one.id : one))

const endedOf = ({ past }: ShownLock, before: ShownLock): NonNullable<ChangedLock['ended']> => {
  const ended = past.filter((one) => !before.past.includes(one))
  const held = new Map(before.holders.map((one) => [one.id, one.since]))
  return ended.map((one) => (held.get(one.id) === one.since ? [one.id, one.until] : one))
}

/** What a page that knows the lock as it was must be told, if anything. */
export const changeOf = (lock: ShownLock, before: ShownLock): readonly ChangedLock[] => {
  const fields = (Object.keys(lock) as Field[]).filter(
    (field) => !APART.has(field) && !isSameValue(lock[field], before[field]),
  )
  const unset = (Object.keys(before) as Field[]).filter((field) => !(field in lock))
  const waiting = waitingOf(lock, before)
  // The page knows by itself when a hold was too long ago.
  const ended = endedOf(lock, before)
  if (fields.length + unset.length + ended.length === 0 && waiting === undefined) return []
  return [
    {
      ...Object.fromEntries(fields.map((field) => [field, lock[field]])),
      id: lock.id,
      ...(waiting !== undefined && { waiting }),
      ...(unset.length > 0 && { unset }),
      ...(ended.length > 0 && { ended }),
    },
  ]
}

const pastOf = ({ id, client, short, label, since }: Person, until: number): Past => {
  return { id, client, short, label, since, until }
}

/** The other way round: the lock, after what has changed. `at`: when it was read. */
export const changed = (lock: ShownLock, change: ChangedLock, at: number): ShownLock => {
  const { unset = [], ended = [], waiting, ...fields } = change
  const waited = new Map(lock.waiting.map((one) => [one.id, one]))
  const held = new Map(lock.holders.map((one) => [one.id, one]))
  const named = <K, T>(all: ReadonlyMap<K, T>, id: K): readonly T[] => [all.get(id)].filter((one) => one !== undefined)
  const past = ended.flatMap((one) => ('id' in one ? one : named(held, one[0]).map((hold) => pastOf(hold, one[1]))))
  const next = {
    ...{ ...lock, ...fields },
    waiting: waiting?.flatMap((one) => (typeof one === 'string' ? named(waited, one) : one)) ?? lock.waiting,
    past: [...lock.past, ...past].filter(({ until }) => until > at - WINDOW).slice(-MOST_PAST),
  }
  for (const field of unset) Reflect.deleteProperty(next, field)
  return next
}
