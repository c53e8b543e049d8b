import { LONGEST_NAME } from '../../plain-text.js'

/** A wait as other clients see it. */
export interface ToldWait {
  /** Its client never uses it again. */
  readonly number: number
  readonly kind: string
  readonly key: string
  readonly name: string
  /** Of a group. */
  readonly keys: readonly string[]
  /** Since when it waits, server time in ms. */
  readonly since: number
  /** Its client lets a deadlock end it. */
  readonly breaks: boolean
  /** What is held until the wait has ended: the key of each lock, and the running number of the owner. */
  readonly holds: readonly (readonly [key: string, number: number])[]
}

/** The field with a number that grows with each write. */
export const BEAT_FIELD = 'beat'
/** How many waits a client publishes at most, how many holds with each, and how many characters they come to. They must fit into one reply. */
const MOST = 128
const MOST_HOLDS = 64
const MOST_KEYS = 100
const LONGEST_ALL = 60_000

export const textOf = ({ number, kind, key, name, keys, since, breaks, holds }: ToldWait): [string, string] => [
  String(number),
  JSON.stringify({
    ...{ k: kind, l: key, s: since, h: holds },
    ...(name !== key && { n: name }),
    ...(keys.length > 0 && { q: keys }),
    ...(breaks && { b: 1 }),
  }),
]

/** As many of the waits as there is room for, the oldest first. */
export const fitting = <W extends { readonly told: ToldWait }>(waits: readonly W[]): W[] => {
  let room = LONGEST_ALL
  return [...waits]
    .sort((one, other) => one.told.since - other.told.since)
    .filter(({ told }) => {
      const size = textOf(told).join('').length
      const fits = size <= room
      if (fits) room -= size
      return fits
    })
    .slice(0, MOST)
}

/** As much of a wait as others learn: any part of the holds and keys is enough to find some of the deadlocks, and never shows one that is none. */
export const shortened = (told: ToldWait): ToldWait => ({
  ...told,
  keys: told.keys.slice(0, MOST_KEYS),
  holds: told.holds.slice(0, MOST_HOLDS),
})

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

const isHold = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && isText(value[0]) && isNumber(value[1])

const listOf = <T>(value: unknown, is: (one: unknown) => one is T, most: number): T[] =>
  Array.isArray(value) ? (value as unknown[]).slice(0, most).filter(is) : []

/** Another program may have written anything. Undefined: it is no wait. */
const readWait = (field: string, text: string): ToldWait | undefined => {
  const number = /^\d{1,15}$/.test(field) ? Number(field) : 0
  try {
    const value: unknown = JSON.parse(text)
    if (!isNumber(number) || typeof value !== 'object' || value === null) return undefined
    const { k, l, n, s, h, q, b } = value as Readonly<Record<string, unknown>>
    if (!isText(k) || k.length > LONGEST_NAME || !isText(l) || l === '' || !isNumber(s)) return undefined
    const [holds, keys] = [listOf(h, isHold, MOST_HOLDS), listOf(q, isText, MOST_KEYS)]
    return { number, kind: k, key: l, name: isText(n) && n !== '' ? n : l, keys, since: s, breaks: b === 1, holds }
  } catch {
    return undefined
  }
}

/** The waits of a client that has published them lately, and the number of that write. */
export interface Published {
  readonly waits: readonly ToldWait[]
  readonly beat: number
}

export const NOTHING: Published = { waits: [], beat: -1 }

/** `entries`: fields and values, in turn. */
export const readPublished = (entries: readonly string[]): Published => {
  let beat = -1
  const waits: ToldWait[] = []
  for (let i = 0; i + 1 < entries.length; i += 2) {
    const [field, text] = [entries[i] as string, entries[i + 1] as string]
    if (field === BEAT_FIELD) beat = /^\d{1,15}$/.test(text) ? Number(text) : -1
    else if (waits.length < MOST) waits.push(...[readWait(field, text)].filter((wait) => wait !== undefined))
  }
  return beat < 0 ? NOTHING : { waits, beat }
}
