import { describe } from 'node:test'
import { engines, scenarios } from '../../support/engines.js'
import { redissonLines } from './semaphore/redisson.js'
import { waiting } from './semaphore/waiting.js'

for (const engine of engines) {
  void describe(`semaphore on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)
    for (const part of [redissonLines, waiting]) part(scenario)
  })
}
