import { show } from '../check-arguments.js'

/** The kinds that the user names, such as `lock` or `readWriteLock.read`. */
export const checkKinds = (kinds: readonly string[]): readonly string[] => {
  const isList: boolean = Array.isArray(kinds)
  if (!isList) throw new TypeError(`kinds must be an array of strings, not ${show(kinds)}`)
  const all = [...kinds]
  for (const kind of all)
    if (!/^[a-zA-Z.]{1,40}$/.test(kind)) throw new TypeError(`kinds must be such as 'lock', not ${show(kind)}`)
  return all
}
