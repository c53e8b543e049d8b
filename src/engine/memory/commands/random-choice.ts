import { charge, chargeItems } from '../command-cost.js'

/** What choosing one item, and putting it into the reply, costs: steps, and bytes. */
const ONE = 8
const PLACE = 16

/** Chooses `amount` different items; all of them, in their order, if there are no more. */
export const chooseDistinct = <T>(from: readonly T[], amount: number, random: () => number): T[] => {
  chargeItems(from.length)
  if (amount >= from.length) return [...from]
  const rest = [...from]
  for (let i = 0; i < amount; i++) {
    const j = i + Math.floor(random() * (rest.length - i))
    const chosen = rest[j] as T
    rest[j] = rest[i] as T
    rest[i] = chosen
  }
  return rest.slice(0, amount)
}

export const chooseWithRepeats = <T>(from: readonly T[], amount: number, random: () => number): T[] => {
  const chosen: T[] = []
  if (from.length === 0) return chosen
  chargeItems(from.length)
  if (amount > 1) charge(amount * ONE, amount * PLACE)
  for (let i = 0; i < amount; i++) chosen.push(from[Math.floor(random() * from.length)] as T)
  return chosen
}
