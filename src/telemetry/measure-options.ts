import { show } from '../check-arguments.js'
import { type NameMapper, Names } from './series.js'

/** What all kinds of metrics can be told. */
export interface MeasureOptions {
  /** Makes a label of a lock's name. Default: none; no name is in any trace or metric. */
  readonly name?: NameMapper | undefined
  /** How many different labels `name` may make; further ones become `other`. Default 1000. */
  readonly maxNames?: number | undefined
  /** Kinds whose metrics begin at 0 now, instead of with their first call. Default: none. */
  readonly kinds?: readonly string[] | undefined
}

/** The kinds that the user names, such as `lock` or `readWriteLock.read`. */
const checkKinds = (kinds: readonly string[]): readonly string[] => {
  const isList: boolean = Array.isArray(kinds)
  if (!isList) throw new TypeError(`kinds must be an array of strings, not ${show(kinds)}`)
  const all = [...kinds]
  for (const kind of all)
    if (!/^[a-zA-Z.]{1,40}$/.test(kind)) throw new TypeError(`kinds must be such as 'lock', not ${show(kind)}`)
  return all
}

export const MEASURE_OPTIONS = ['name', 'maxNames', 'kinds']

export const checkMeasured = ({ name, maxNames, kinds = [] }: MeasureOptions) => ({
  names: new Names(name, maxNames),
  kinds: checkKinds(kinds),
})
