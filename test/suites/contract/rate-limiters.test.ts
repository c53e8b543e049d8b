import { describe } from 'node:test'
import { engines, scenarios } from '../../support/engines.js'
import { rates } from './rate-limiter/rates.js'
import { redissonLines } from './rate-limiter/redisson.js'
import { waiting } from './rate-limiter/waiting.js'

for (const engine of engines) {
  void describe(`rate limiter on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)
    for (const part of [redissonLines, rates, waiting]) part(scenario)
  })
}
