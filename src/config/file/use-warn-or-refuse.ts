import { type Field, fieldOf, type Mode } from './redisson-fields.js'
import { type Entry, type Tree, wrong } from './yaml-tree.js'

/** How names are compared, and where to report what is not used. */
export interface Reading {
  /** Spring's names: `single-server-config`. */
  readonly loose: boolean
  readonly warn: (at: string, what: string) => void
}

/** In the order in which Redisson looks for their sections. */
export const ORDER: readonly Mode[] = ['masterSlave', 'single', 'sentinel', 'cluster', 'replicated']

/** Every field of a file is kept in `found`, reported as not used, or refused, as the table says. */
export const sortFields = (
  entries: readonly Entry[],
  place: 'root' | Mode,
  found: Map<string, Entry>,
  reading: Reading,
): void => {
  for (const entry of entries) {
    if (entry.value.kind === 'nothing' && entry.value.tag === undefined) continue
    const field = fieldOf(entry.name, place, reading.loose)
    if (field === undefined) reading.warn(entry.at, unknown(entry.name, place, reading.loose))
    else if (field.name === 'credentialsResolver') found.set(field.name, entry)
    else if (field.fate === 'refused') throw refusal(entry, field.note)
    else if (field.fate === 'ignored' || !isWhatIsDone(field, entry.value)) {
      if (field.only === undefined || field.fate === 'ignored')
        reading.warn(entry.at, `${field.name} is not used: ${plain(field.note)}`)
      else reading.warn(entry.at, `${field.name} is ${field.only} here: ${plain(field.note)}`)
    } else if (field.only === undefined) found.set(field.name, entry)
  }
}

const isWhatIsDone = ({ only }: Field, value: Tree): boolean => {
  if (only === undefined) return true
  const said = simpleName(value.tag) ?? (value.kind === 'text' ? value.text : '')
  return said.toLowerCase() === only.toLowerCase()
}

export const refusal = ({ name, at }: Entry, note: string): Error => wrong(at, `${name} cannot be used: ${plain(note)}`)

/** Says where the field belongs, if anywhere. A text that is not a name may be a misplaced password. */
const unknown = (name: string, place: 'root' | Mode, loose: boolean): string => {
  if (!/^[A-Za-z][A-Za-z-]{0,60}$/.test(name)) return 'this is not a field of Redisson: it is not used'
  const elsewhere = place === 'root' ? ORDER.some((mode) => fieldOf(name, mode, loose)) : fieldOf(name, 'root', loose)
  if (!elsewhere) return `${name} is not a field that Redisson knows here: it is not used`
  return `${name} is not used: it belongs ${place === 'root' ? 'in the section of the servers' : 'at the top level, beside the section'}`
}

/** Without the marks for the docs page. */
const plain = (note: string): string => note.replaceAll('`', '')

export const simpleName = (className: string | undefined): string | undefined => className?.replace(/^.*\./, '')
