/** The answers of all nodes. Throws the first rejection. */
export const allOf = <R>(outcomes: readonly PromiseSettledResult<R>[]): R[] =>
  outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
