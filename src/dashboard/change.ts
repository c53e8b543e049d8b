import { isSameValue } from './same.js'
import { type ChangedLock, MOST_PAST, type ShownLock, WINDOW } from './state.js'

type Field = keyof ShownLock

/** What a page that knows the lock as it was must be told, if anything. */
export const changeOf = (lock: ShownLock, before: ShownLock): readonly ChangedLock[] => {
  const fields = (Object.keys(lock) as Field[]).filter(
    (field) => field !== 'past' && !isSameValue(lock[field], before[field]),
  )
  const unset = (Object.keys(before) as Field[]).filter((field) => !(field in lock))
  // The page knows by itself when a hold was too long ago.
  const ended = lock.past.filter((past) => !before.past.includes(past))
  if (fields.length + unset.length + ended.length === 0) return []
  return [
    {
      ...Object.fromEntries(fields.map((field) => [field, lock[field]])),
      id: lock.id,
      ...(unset.length > 0 && { unset }),
      ...(ended.length > 0 && { ended }),
    },
  ]
}

/** The other way round: the lock, after what has changed. `at`: when it was read. */
export const changed = (lock: ShownLock, { unset = [], ended = [], ...fields }: ChangedLock, at: number): ShownLock => {
  const past = [...lock.past, ...ended].filter(({ until }) => until > at - WINDOW).slice(-MOST_PAST)
  const next = { ...lock, ...fields, past }
  for (const field of unset) Reflect.deleteProperty(next, field)
  return next
}
