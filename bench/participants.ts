import { before, holdfast, holdfastResp3, holdfastSent, holdfastThread } from './participants/holdfast.js'
import { nodeRedisson } from './participants/node-redisson.js'
import type { Participant } from './participants/participant.js'
import { raw, rawPipelined, rawResp3 } from './participants/raw.js'
import { redisson } from './participants/redisson.js'
import { redissonScheme, redissonSchemeKept } from './participants/redisson-scheme.js'
import { redisSemaphore, redisSemaphorePipelined } from './participants/redis-semaphore.js'
import { redlock4 } from './participants/redlock-4.js'
import { redlock5 } from './participants/redlock-5.js'
import { redlockUniversal } from './participants/redlock-universal.js'
import { redsync } from './participants/redsync.js'
import { rueidislock } from './participants/rueidislock.js'
import { sesamecareRedlock } from './participants/sesamecare-redlock.js'
import { trials } from './participants/trials.js'

/** Whoever is measured, in the order of the tables. */
export const participants: readonly Participant[] = [
  holdfast,
  raw,
  rawPipelined,
  redisSemaphore,
  redisSemaphorePipelined,
  redlock4,
  redlock5,
  sesamecareRedlock,
  redlockUniversal,
  nodeRedisson,
  redisson,
  redissonScheme,
  redissonSchemeKept,
  rueidislock,
  redsync,
]

/** All of them, or in a quick run one for each way to work. */
export const takingPart = (quick: boolean): readonly Participant[] =>
  participants.filter(({ variant = false }) => !(quick && variant))

const everybody = [
  ...participants,
  ...[holdfastSent, holdfastResp3, holdfastThread, ...rawResp3],
  ...[before, ...trials],
]

export const participantNamed = (name: string): Participant => {
  const found = everybody.find((participant) => participant.name === name)
  if (found === undefined) throw new Error(`no participant '${name}'`)
  return found
}

/** A number of its own. */
export const placeOf = (participant: Participant): number => everybody.indexOf(participant)
