import { fieldOf, type Mode, modeOf } from './redisson-fields.js'
import { leftOver } from './placeholders.js'
import { ORDER, type Reading, refusal, simpleName, sortFields } from './use-warn-or-refuse.js'
import { type Entry, type Tree, wrong } from './yaml-tree.js'

/** The honoured fields of a file, by name. */
export class Values {
  readonly mode: Mode
  /** The position where the section begins. */
  readonly section: string
  readonly #found: Map<string, Entry>
  readonly #taken = new Set<string>()
  readonly #reading: Reading

  private constructor(mode: Mode, section: string, found: Map<string, Entry>, reading: Reading) {
    this.mode = mode
    this.section = section
    this.#found = found
    this.#reading = reading
  }

  static of(root: Tree, reading: Reading): Values {
    if (root.kind !== 'map')
      throw wrong(root.at, `fields are expected here, such as singleServerConfig: with an address`)
    const sections = root.entries.flatMap((entry) => {
      const mode = modeOf(entry.name, reading.loose)
      return mode === undefined || entry.value.kind === 'nothing' ? [] : [{ mode, entry }]
    })
    // In the order in which Redisson looks for them.
    const chosen = ORDER.map((mode) => sections.find((one) => one.mode === mode)).find((one) => one !== undefined)
    const fields = root.entries.filter(({ name }) => modeOf(name, reading.loose) === undefined)
    const found = new Map<string, Entry>()
    if (chosen !== undefined) sortFields(entriesOf(chosen.entry), chosen.mode, found, reading)
    // Fields in the root have priority over those in the section.
    sortFields(fields, 'root', found, reading)
    if (chosen === undefined) throw wrong(root.at, NO_SECTION)
    for (const { entry } of sections.filter((one) => one !== chosen)) {
      reading.warn(entry.at, `${entry.name} is not used: ${chosen.entry.name} takes precedence`)
    }
    const values = new Values(chosen.mode, chosen.entry.at, found, reading)
    values.#settleAuthentication()
    return values
  }

  /** A credentialsResolver would supply the password. It can be left out only if there is one already. */
  #settleAuthentication(): void {
    const resolver = this.#found.get('credentialsResolver')
    if (resolver === undefined) return
    this.#found.delete('credentialsResolver')
    if (simpleName(resolver.value.tag) === 'DefaultCredentialsResolver') return
    if (!this.has('password')) throw refusal(resolver, fieldOf('credentialsResolver', 'root', false)?.note ?? '')
    this.#reading.warn(resolver.at, 'credentialsResolver is not used: it is Java code, and there is a password')
  }

  has(name: string): boolean {
    return this.#found.has(name)
  }

  /** The position of the field. */
  at(name: string): string {
    return this.#found.get(name)?.at ?? ''
  }

  tree(name: string): Tree | undefined {
    this.#taken.add(name)
    return this.#found.get(name)?.value
  }

  text(name: string, secret = false): string | undefined {
    const tree = this.tree(name)
    if (tree === undefined) return undefined
    if (tree.kind !== 'text' || tree.tag !== undefined) throw wrong(tree.at, `${name} must be text`)
    const missing = leftOver(tree.text)
    // Text that looks like a placeholder may be part of the password.
    const which = secret ? 'a placeholder in it' : missing
    if (missing !== undefined) this.#reading.warn(tree.at, `${name} is used as written: ${which} is not set`)
    return tree.text === '' ? undefined : tree.text
  }

  /** A secret that Redisson PRO encrypted cannot be read. */
  secret(name: string): string | undefined {
    const text = this.text(name, true)
    if (text?.startsWith('{aes}') !== true) return text
    throw wrong(
      this.at(name),
      `${name} is encrypted by Redisson PRO, which holdfast cannot decrypt: take it from the environment, as \${NAME}`,
    )
  }

  number(name: string, least: number, unit = 'a whole number', most = Infinity): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = Number(text.trim())
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value
    const bounds = most === Infinity || value < least || Number.isNaN(value) ? `${least} or more` : `at most ${most}`
    throw wrong(this.at(name), `${name} must be ${unit}, ${bounds}`)
  }

  /** The same maximum applies as for the option of `connect`. */
  ms(name: string, most: number): number | undefined {
    return this.number(name, 1, 'a whole number of milliseconds', most)
  }

  flag(name: string): boolean | undefined {
    const text = this.text(name)?.trim().toLowerCase()
    if (text === undefined) return undefined
    // The words of YAML 1.1, which Redisson's reader accepts.
    if (['true', 'yes', 'on'].includes(text)) return true
    if (['false', 'no', 'off'].includes(text)) return false
    throw wrong(this.at(name), `${name} must be true or false`)
  }

  choice<T extends string>(name: string, of: readonly T[]): T | undefined {
    const text = this.text(name)?.trim().toUpperCase()
    const choice = of.find((one) => one === text)
    if (choice !== undefined || text === undefined) return choice
    throw wrong(this.at(name), `${name} must be one of ${of.join(', ')}`)
  }

  /** A single value may be written without a list, and several with commas between them. */
  list(name: string, comma: string | RegExp = ','): readonly { readonly at: string; readonly text: string }[] {
    const tree = this.tree(name)
    if (tree === undefined) return []
    const items = tree.kind === 'list' ? tree.items : [tree]
    return items.flatMap((item) => {
      if (item.kind !== 'text') throw wrong(item.at, `${name} must be text, or a list of texts`)
      const parts = tree.kind === 'list' ? [item.text] : item.text.split(comma)
      return parts.map((part) => ({ at: item.at, text: part.trim() }))
    })
  }

  /** The class that the field names. */
  className(name: string): string | undefined {
    const tree = this.tree(name)
    return tree?.tag ?? (tree?.kind === 'text' ? tree.text : undefined)
  }

  /** Reports fields that are honoured in general, but have no effect with these others. */
  tellUnused(): void {
    for (const [name, { at }] of this.#found) {
      if (!this.#taken.has(name)) this.#reading.warn(at, `${name} is not used: it has no effect for these addresses`)
    }
  }
}

const NO_SECTION =
  'no servers are named: set one of singleServerConfig, sentinelServersConfig, clusterServersConfig, replicatedServersConfig ' +
  'or masterSlaveServersConfig'

const entriesOf = ({ name, value }: Entry): readonly Entry[] => {
  if (value.kind === 'map') return value.entries
  throw wrong(value.at, `${name} must contain fields, one on each line and indented`)
}
