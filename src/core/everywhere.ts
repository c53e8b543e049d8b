import type { Reply } from '../engine/engine.js'

/** The answers of all nodes, or the first refusal. */
export const allOf = (outcomes: readonly PromiseSettledResult<Reply>[]): Reply[] =>
  outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
