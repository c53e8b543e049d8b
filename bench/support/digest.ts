import type { Sample } from './load.js'
import type { Figures } from './result.js'
import { type Reading, requestsBetween } from './server-meter.js'
import { concat, quantile } from './stats.js'

export const totalOf = (samples: readonly Sample[], key: 'pairs' | 'total' | 'held' | 'cpu'): number =>
  samples.reduce((sum, sample) => sum + sample[key], 0)

/** What the callers saw. */
export const digest = (samples: readonly Sample[], seconds: number): Figures => {
  const total = totalOf(samples, 'total')
  const held = totalOf(samples, 'held')
  const waits = concat(samples.map((sample) => sample.waits)).sort()
  return {
    rate: totalOf(samples, 'pairs') / seconds,
    ...(waits.length > 0 && { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: quantile(waits, 1) }),
    ...(held > 0 && { hold: held / total }),
    clientCpu: totalOf(samples, 'cpu') / total,
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
  figures['commands'] = (after.commands - before.commands) / total
}

/** How often two were inside at a time, within a process and between processes. */
export const violations = (samples: readonly Sample[]): number => {
  const stays = concat(samples.map((sample) => sample.stays))
  const order = Array.from({ length: stays.length / 2 }, (_, stay) => stay).sort(
    (a, b) => stays[2 * a]! - stays[2 * b]!,
  )
  let found = samples.reduce((sum, sample) => sum + sample.crowded, 0)
  let latest = -Infinity
  for (const stay of order) {
    if (stays[2 * stay]! < latest) found++
    latest = Math.max(latest, stays[2 * stay + 1]!)
  }
  return found
}
