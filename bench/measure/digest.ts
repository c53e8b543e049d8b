import type { Sample } from '../base/load.js'
import type { Figures } from '../base/result.js'
import { type Reading, requestsBetween, scriptsBetween } from './server-meter.js'
import { concat, median, quantile } from '../base/stats.js'

export const totalOf = (samples: readonly Sample[], key: 'pairs' | 'total' | 'held' | 'cpu' | 'asleep'): number =>
  samples.reduce((sum, sample) => sum + (sample[key] ?? 0), 0)

/** Of the waits that were kept, all of them: no histogram stands between. */
export const WAIT_QUANTILES: readonly (readonly [string, number])[] = [
  ['p10', 0.1],
  ['p25', 0.25],
  ['p50', 0.5],
  ['p75', 0.75],
  ['p90', 0.9],
  ['p99', 0.99],
  ['p999', 0.999],
  ['max', 1],
]

/** Of the callers that were counted one by one: how often the least and the most served of them came in. */
const servedOf = (samples: readonly Sample[]): Record<string, number> => {
  const visits = samples.flatMap((sample) => sample.visits ?? [])
  if (visits.length < 2) return {}
  const [least, most] = [Math.min(...visits), Math.max(...visits)]
  return { least, most, share: least / most }
}

/** Of those that kept it: of waits that began before the counted time, and of those that never ended, the quantiles know nothing. */
const longestOf = (samples: readonly Sample[]): Record<string, number> => {
  const kept = samples.flatMap(({ longest }) => longest ?? [])
  return kept.length > 0 ? { longest: Math.max(...kept) } : {}
}

/** What the callers saw. */
export const digest = (samples: readonly Sample[], seconds: number): Figures => {
  const total = totalOf(samples, 'total')
  const held = totalOf(samples, 'held')
  const waits = concat(samples.map((sample) => sample.waits)).sort()
  return {
    rate: totalOf(samples, 'pairs') / seconds,
    ...(waits.length > 0 && Object.fromEntries(WAIT_QUANTILES.map(([key, part]) => [key, quantile(waits, part)]))),
    ...longestOf(samples),
    ...(held > 0 && { hold: held / total }),
    clientCpu: totalOf(samples, 'cpu') / total,
    ...servedOf(samples),
  }
}

/** What the server had to do meanwhile, for each of `total`. */
export const serverSide = (
  figures: Figures,
  direct: readonly string[],
  total: number,
  [before, after]: readonly [Reading, Reading],
): void => {
  figures['serverCpu'] = (after.cpu - before.cpu) / total
  figures['cpu'] = figures['clientCpu']! + figures['serverCpu']
  figures['requests'] = requestsBetween(before, after, direct) / total
  figures['scripts'] = scriptsBetween(before, after) / total
  figures['commands'] = (after.commands - before.commands) / total
}

/** How often more were inside at a time than there are places, within a process and between processes. */
export const violations = (samples: readonly Sample[], places = 1): number => {
  const stays = concat(samples.map((sample) => sample.stays))
  const entered = stays.filter((_, index) => index % 2 === 0).sort()
  const left = stays.filter((_, index) => index % 2 === 1).sort()
  let found = samples.reduce((sum, sample) => sum + sample.crowded, 0)
  let gone = 0
  for (const [before, at] of entered.entries()) {
    while (left[gone]! <= at) gone++
    if (before - gone >= places) found++
  }
  return found
}

/**
 * ms from the end of one hold to the begin of the next one in another process, of a lock that one caller has at a time: the median, and what
 * the quickest tenth takes at most, to which a busy machine adds little.
 */
export const betweenProcesses = (samples: readonly Sample[]): { readonly gap?: number; readonly leastGap?: number } => {
  const stays = samples.flatMap(({ stays }, process) =>
    Array.from({ length: stays.length / 2 }, (_, i) => ({ process, entered: stays[2 * i]!, left: stays[2 * i + 1]! })),
  )
  stays.sort((one, other) => one.entered - other.entered)
  const gaps = stays.flatMap(({ process, entered }, i) => {
    const last = stays[i - 1]
    return last === undefined || last.process === process ? [] : [(entered - last.left) / 1000]
  })
  const sorted = gaps.sort((one, other) => one - other)
  return gaps.length > 0 ? { gap: median(gaps), leastGap: quantile(sorted, 0.1) } : {}
}
