import { type HistoryOutcome, simulate } from './simulate.js'

const ruleOf = ({ violations }: HistoryOutcome): string | undefined => violations[0]?.split(':')[0]

/**
 * The smallest history found that breaks the same rule: steps and faults are left out, many at a time at first, as long
 * as it still does. What it comes to depends on the seed alone.
 */
export const shrink = async (seed: number, most = 400): Promise<{ outcome: HistoryOutcome; masked: Set<string> }> => {
  let outcome = await simulate(seed)
  const rule = ruleOf(outcome)
  let masked = new Set<string>()
  if (rule === undefined) return { outcome, masked }
  let runs = 0
  for (let share = 2; runs < most; share *= 2) {
    const parts = outcome.parts.filter((part) => !masked.has(part))
    const size = Math.ceil(parts.length / share)
    for (let from = 0; from < parts.length && runs < most; from += size) {
      const tried = new Set([...masked, ...parts.slice(from, from + size)])
      runs++
      const smaller = await simulate(seed, { masked: tried })
      if (ruleOf(smaller) !== rule) continue
      masked = tried
      outcome = smaller
    }
    if (size <= 1) break
  }
  return { outcome: await simulate(seed, { masked, trace: true }), masked }
}
