import { Random } from '../random.js'
import { COUNTS } from './counted-kinds.js'
import type { Family } from './family.js'
import { type Weather, pairsOf, weatherOf } from './faults.js'
import { KEYED_LOCKS } from './keyed-kinds.js'
import { LOCKS } from './exclusive-kinds.js'
import { PERMIT_SEMAPHORES } from './permits-as-lock.js'
import { READ_WRITE_LOCKS } from './read-write-kinds.js'

/** In the order of their numbers: a new one comes last, so that old numbers stay what they are. */
export const FAMILIES: readonly Family[] = [...LOCKS, ...READ_WRITE_LOCKS, PERMIT_SEMAPHORES, KEYED_LOCKS, ...COUNTS]

/** Each family has as many numbers as anybody can try. */
const NUMBERS = 1_000_000_000

/** What the history of this number is about. */
export const familyOf = (seed: number): Family => FAMILIES[Math.floor(seed / NUMBERS) % FAMILIES.length] as Family

/** The n-th history of all these families, which take turns. */
export const seedOf = (n: number, families = FAMILIES): number =>
  Math.floor(n / families.length) + FAMILIES.indexOf(families[n % families.length] as Family) * NUMBERS

const PAIRS_OF = new Map(FAMILIES.map((family) => [family, pairsOf(family.scripts, family.told)]))

/** Every pair that a long run of these must have met, once. */
export const pairsOfAll = (families: readonly Family[]): ReturnType<typeof pairsOf> => [
  ...new Map(families.flatMap((family) => (PAIRS_OF.get(family) ?? []).map((pair) => [pair.join(' '), pair]))).values(),
]

/** What goes wrong in the history of this number. */
export const weatherOfSeed = (seed: number): Weather =>
  weatherOf(new Random(seed).fork('history').fork('weather'), PAIRS_OF.get(familyOf(seed)) ?? [])
