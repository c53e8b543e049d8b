import { describe } from 'node:test'
import type { Engine, Scenario } from '../../support/engines.js'
import { scenarios } from '../../support/engines.js'
import { badArguments } from './lock/arguments.js'
import { clients } from './lock/clients.js'
import { fairLines } from './lock/fair.js'
import { holds } from './lock/holds.js'
import type { LockKind, Part } from './lock/kind.js'
import { fairLockLines, named } from './lock/lines.js'
import { ownership } from './lock/ownership.js'
import { redissonLines } from './lock/redisson.js'
import { reentrance } from './lock/reentrance.js'
import { stalls } from './lock/stalls.js'
import { trust } from './lock/trust.js'
import { waiting } from './lock/waiting.js'

export type { LockKind } from './lock/kind.js'

const besideOneAnother: readonly Part[] = [
  badArguments,
  ownership,
  reentrance,
  holds,
  waiting,
  redissonLines,
  fairLines,
  trust,
  clients,
]

/** Parts that stop the event loop and so must run alone. */
const alone: readonly Part[] = [stalls]

/**
 * Everything that a kind of lock must do, on one engine. A kind that differs by its scripts only is tried on a real server
 * and under the virtual clock; what a clock or a stalled event loop does to it, the others of its way through the core show.
 */
export const lockContract = (kind: LockKind, engine: Engine): void => {
  if (kind.whole !== true && engine.name === 'memory') return
  for (const { parts, concurrency } of [
    { parts: besideOneAnother, concurrency: engine.concurrency },
    ...(engine.virtual || kind.whole !== true ? [] : [{ parts: alone, concurrency: 1 }]),
  ]) {
    void describe(`${kind.name} on ${engine.name}`, { concurrency }, () => {
      const add = scenarios(engine, kind.options, kind.patience)
      const lines = kind.lines ?? (kind.fair === true ? fairLockLines : {})
      const scenario: Scenario = (name, ...rest) => {
        add(named(name, lines), ...rest)
      }
      const excludes: Scenario = kind.mode === 'read' ? () => undefined : scenario
      for (const part of parts) part(kind, scenario, excludes)
    })
  }
}
