import { describe } from 'node:test'
import type { Engine } from '../../support/engines.js'
import { scenarios } from '../../support/engines.js'
import { kinds } from './kinds.js'
import { lockContract } from './lock.contract.js'
import { redissonLines } from './semaphore/redisson.js'
import { waiting } from './semaphore/waiting.js'

/** A part of the contract that has a bit of everything: scripts, messages, a line, time-outs. */
const SMOKE = ['lock', 'fairLock']

export const smoke = (engine: Engine): void => {
  for (const kind of kinds.filter(({ name }) => SMOKE.includes(name))) lockContract(kind, engine)
  void describe(`semaphore on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)
    for (const part of [redissonLines, waiting]) part(scenario)
  })
}
