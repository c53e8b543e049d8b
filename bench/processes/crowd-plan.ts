/** What a crowd process and whoever starts it agree on. */

/** The lock that all wait for. */
export const SHARED = 'bench:crowd'

export const namesOf = (count: number, prefix = 'crowd'): string[] =>
  Array.from({ length: count }, (_, index) => `bench:${prefix}:${index}`)

export type CrowdMessage = 'hold' | 'wait' | 'memory' | 'cpu' | 'stall' | 'troubles'
