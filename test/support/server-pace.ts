import type { Redis } from 'ioredis'
import { cpuOf } from './main-thread-cpu.js'

const TRIES = 5

/** What each takes on a quiet machine, ms, and what it does. */
const WORK = {
  commands: [1.5, "for _ = 1, 2000 do redis.call('ZSCORE', KEYS[1], 'none') end return 1"],
  // A name of 1 MB is read, which is the last one of the list.
  'long names': [1.7, "return #redis.call('LINDEX', KEYS[1], -1)"],
} as const

/** How much slower than a quiet machine's a server is just now: a bound of its time, multiplied by this, is fair on a busy machine. */
export const slownessOf = async (redis: Redis, work: keyof typeof WORK, key = 'none'): Promise<number> => {
  const [quiet, text] = WORK[work]
  let least = Infinity
  for (let i = 0; i < TRIES; i++) {
    const [before, , behind] = (await redis
      .pipeline()
      .call('INFO', 'cpu')
      .call('EVAL', text, 1, key)
      .call('INFO', 'cpu')
      .exec()) as [[null, string], unknown, [null, string]]
    least = Math.min(least, cpuOf(behind[1]) - cpuOf(before[1]))
  }
  return Math.max(1, least / quiet)
}
