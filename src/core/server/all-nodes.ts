/** The answers of all nodes, or the first refusal. */
export const allOf = <R>(outcomes: readonly PromiseSettledResult<R>[]): R[] =>
  outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
