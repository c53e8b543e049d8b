import { platform } from '#platform'
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
/** They must fit into one reply: how many waits a client publishes, and how many bytes. A reader stops at 100,000. */
const MOST = 128
const LONGEST_ALL = 90_000
/** How many holds of one owner, and how many keys of a group; and how many bytes these may have, or the key and the name. */
const MOST_HOLDS = 1000
const MOST_KEYS = 1000
const LONGEST_PART = 20_000

export const textOf = ({ number, kind, key, name, keys, since, breaks, holds }: ToldWait): [string, string] => [
  String(number),
  JSON.stringify({
    ...{ k: kind, l: key, s: since, h: holds },
    ...(name !== key && { n: name }),
    ...(keys.length > 0 && { q: keys }),
    ...(breaks && { b: 1 }),
  }),
]

const bytesOf = (value: unknown): number => platform.utf8Length(JSON.stringify(value))

/** The first of them, as far as there is room. */
const firstOf = <T>(all: readonly T[], most: number): readonly T[] => {
  let room = LONGEST_PART
  const end = all.findIndex((one, i) => i === most || (room -= bytesOf(one) + 1) < 0)
  return end === -1 ? all : all.slice(0, end)
}

/** As many of the holds of one owner as others learn, whichever of its calls waits: others must know of all calls that a hold lasts for. */
export const holdsToTell = (holds: ToldWait['holds']): ToldWait['holds'] => firstOf(holds, MOST_HOLDS)

/** As many of the keys that a call waits for as others learn: it waits for the holders of each. */
export const keysToTell = (keys: readonly string[]): readonly string[] => firstOf(keys, MOST_KEYS)

const isTooLong = ({ key, name }: ToldWait): boolean =>
  key.length + name.length > LONGEST_PART || bytesOf([key, name]) > LONGEST_PART

/** The waits that a client publishes. It ends at the first for which there is no room. */
export class Page {
  #waits = MOST
  #bytes = LONGEST_ALL

  get isFull(): boolean {
    return this.#waits === 0
  }

  /** Whether there is room for this wait, too. */
  add(told: ToldWait): boolean {
    if (this.isFull || isTooLong(told)) return false
    this.#bytes -= platform.utf8Length(textOf(told).join(''))
    this.#waits = this.#bytes < 0 ? 0 : this.#waits - 1
    return this.#bytes >= 0
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

const isHold = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && isText(value[0]) && isNumber(value[1])

const listOf = <T>(value: unknown, is: (one: unknown) => one is T): T[] =>
  Array.isArray(value) ? (value as unknown[]).filter(is) : []

/** Another program may have written anything. Undefined: it is no wait. */
const readWait = (field: string, text: string): ToldWait | undefined => {
  const number = /^\d{1,15}$/.test(field) ? Number(field) : 0
  try {
    const value: unknown = JSON.parse(text)
    if (!isNumber(number) || typeof value !== 'object' || value === null) return undefined
    const { k, l, n, s, h, q, b } = value as Readonly<Record<string, unknown>>
    if (!isText(k) || k.length > LONGEST_NAME || !isText(l) || l === '' || !isNumber(s)) return undefined
    // All holds: without some of them, others would look as if fewer calls were inside them.
    const [holds, keys] = [listOf(h, isHold), listOf(q, isText).slice(0, MOST_KEYS)]
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
