/** So many permits, granted at a time of the server's, ms. */
export interface Grant {
  readonly at: number
  readonly permits: number
}

/** An interval in which more were granted than the rate allows; both ends are exact: what was granted then comes back then. */
export const exceeding = (grants: readonly Grant[], permits: number, interval: number): string | undefined => {
  const sorted = [...grants].sort((a, b) => a.at - b.at)
  let inside = 0
  let oldest = 0
  for (const { at, permits: some } of sorted) {
    inside += some
    for (let grant = sorted[oldest]; grant !== undefined && grant.at <= at - interval; grant = sorted[oldest]) {
      inside -= grant.permits
      oldest += 1
    }
    if (inside > permits) return `${inside} of ${permits} within ${interval} ms until ${at}`
  }
  return undefined
}
