/** Reads the holders from owners, each with its count. */
export const holdersOf = (fields: readonly string[]): { owner: string; count: number }[] => {
  const holders = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    holders.push({ owner: fields[i] as string, count: Number(fields[i + 1]) })
  }
  return holders
}
