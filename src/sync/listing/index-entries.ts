/** Fields and values in turn. */
export const entriesIn = ([, lines, others]: readonly [string, string, readonly string[]]): readonly string[] => {
  const entries = lines === '' ? [] : lines.split('\n')
  return others.length === 0 ? entries : [...entries, ...others]
}
