import { describe } from 'node:test'
import { engines, scenarios } from '../../support/engines.js'
import { permits } from './permit-semaphore/permits.js'
import { redissonLines } from './permit-semaphore/redisson.js'

for (const engine of engines) {
  void describe(`permit semaphore on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)
    for (const part of [redissonLines, permits]) part(scenario)
  })
}
