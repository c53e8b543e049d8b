const isSameList = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((item, i) => item === other[i])

/** The same, or a list of the same items. */
export const isSameValue = (one: unknown, other: unknown): boolean => one === other || isSameList(one, other)

const isSame = <T extends object>(one: T, other: T): boolean => {
  const fields = Object.keys(one) as (keyof T)[]
  return fields.length === Object.keys(other).length && fields.every((field) => isSameValue(one[field], other[field]))
}

/** As it was, if nothing differs: what has not changed is still the same object at the next reading. */
export const kept = <T extends object>(now: T, before: T | undefined): T =>
  before !== undefined && isSame(now, before) ? before : now
