import { Random } from '../random.js'
import { COUNTS } from './counted-kinds.js'
import type { Family } from './family.js'
import { type Weather, pairsOf, weatherOf } from './faults.js'
import { KEYED_LOCKS } from './keyed-kinds.js'
import { LOCKS } from './exclusive-kinds.js'
import { ONCE } from './once/families.js'
import { DEADLOCKS } from './deadlocks/deadlock-family.js'
import { PERMIT_SEMAPHORES } from './permits-as-lock.js'
import { READ_WRITE_LOCKS } from './read-write-kinds.js'

/** In the order of their numbers: a new one comes last, so that old numbers stay what they are. */
export const FAMILIES: readonly Family[] = [
  ...LOCKS,
  ...READ_WRITE_LOCKS,
  PERMIT_SEMAPHORES,
  KEYED_LOCKS,
  ...COUNTS,
  DEADLOCKS,
  ...ONCE,
]

/** Each family has as many numbers as anybody can try. */
const NUMBERS = 1_000_000_000

/** What the history of this number is about. */
export const familyOf = (seed: number): Family => FAMILIES[Math.floor(seed / NUMBERS) % FAMILIES.length] as Family

/** The families in the order of their turns, until it begins anew: slow ones come seldom. */
const turnsOf = (families: readonly Family[]): Family[] => {
  const rounds = Math.max(...families.map(({ every = 1 }) => every))
  return Array.from({ length: rounds }, (_, r) => families.filter(({ every = 1 }) => r % every === 0)).flat()
}

/** The number of the n-th history of all these families, which take turns. */
export const seedsOf = (families: readonly Family[]): ((n: number) => number) => {
  const turns = turnsOf(families)
  const places = turns.map((family, i) => {
    const each = turns.filter((one) => one === family).length
    return {
      first: FAMILIES.indexOf(family) * NUMBERS,
      each,
      before: turns.slice(0, i).filter((one) => one === family).length,
    }
  })
  return (n) => {
    const { first, each, before } = places[n % turns.length] as (typeof places)[number]
    return first + Math.floor(n / turns.length) * each + before
  }
}

/** Where nothing goes wrong towards the end, hardly any process unsubscribes before. */
const pairsIn = ({ scripts, told, calmFrom }: Family): ReturnType<typeof pairsOf> =>
  pairsOf(scripts, told).filter(([, point]) => calmFrom === undefined || point !== 'unsubscribe')

const PAIRS_OF = new Map(FAMILIES.map((family) => [family, pairsIn(family)]))

/** Every pair that a long run of these must have met, once. */
export const pairsOfAll = (families: readonly Family[]): ReturnType<typeof pairsOf> => [
  ...new Map(families.flatMap((family) => (PAIRS_OF.get(family) ?? []).map((pair) => [pair.join(' '), pair]))).values(),
]

/** What goes wrong in the history of this number. */
export const weatherOfSeed = (seed: number): Weather =>
  weatherOf(new Random(seed).fork('history').fork('weather'), PAIRS_OF.get(familyOf(seed)) ?? [])
