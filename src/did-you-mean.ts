/** What other libraries call the same option. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...{ ttl: 'lease', leaseTime: 'lease', duration: 'lease', expire: 'lease', expiry: 'lease' },
  ...{ timeout: 'wait', waitTime: 'wait', waitTimeout: 'wait', abortSignal: 'signal', count: 'permits' },
}

/** How many letters differ; two swapped letters count as one, and any result above two means "more". */
const distance = (one: string, other: string): number => {
  if (Math.abs(one.length - other.length) > 2) return 3
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1]
      const least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row.push(swapped ? Math.min(least, (before[j - 2] ?? 0) + 1) : least)
    }
    ;[before, last] = [last, row]
  }
  return last[other.length] ?? 3
}

/** The known option that was probably meant, if there is one. */
export const alike = (key: string, known: readonly string[]): string | undefined => {
  const elsewhere = Object.hasOwn(ELSEWHERE, key) ? ELSEWHERE[key] : undefined
  if (elsewhere !== undefined && known.includes(elsewhere)) return elsewhere
  const [lower, most] = [key.toLowerCase(), key.length > 4 ? 2 : 1]
  return known.find((name) => distance(lower, name.toLowerCase()) <= most)
}
