import { holdfast } from './participants/holdfast.js'
import type { Participant } from './participants/participant.js'
import { raw, rawPipelined } from './participants/raw.js'
import { redisson } from './participants/redisson.js'
import { redissonScheme } from './participants/redisson-scheme.js'
import { redisSemaphore, redisSemaphorePipelined } from './participants/redis-semaphore.js'

/** Whoever is measured, in the order of the tables. */
export const participants: readonly Participant[] = [
  holdfast,
  raw,
  rawPipelined,
  redisSemaphore,
  redisSemaphorePipelined,
  redisson,
  redissonScheme,
]
