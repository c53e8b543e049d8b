import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, visit } from 'yaml'
import { ConfigError } from '../../errors.js'
import { type Environment, fill, firstAfter } from './placeholders.js'

/** A value in a file. `at` is its position: `file:line:column`. */
export type Tree = { readonly at: string; readonly tag?: string | undefined } & (
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string; readonly block?: readonly [from: number, to: number] | undefined }
  | { readonly kind: 'list'; readonly items: readonly Tree[] }
  | { readonly kind: 'map'; readonly entries: readonly Entry[] }
)

export interface Entry {
  readonly name: string
  readonly at: string
  readonly value: Tree
}

/** Says what is wrong, where, and what to do. It never shows a value, because that may be a misplaced password. */
export const wrong = (at: string, what: string): ConfigError => new ConfigError(`${at}: ${what}`)

/** Deeper than any real configuration; a value that contains itself would never end. */
const DEEPEST = 30

/** More nodes than the aliases of any real configuration make. */
const MOST_COPIED = 10_000

const PLAIN_TAGS: ReadonlySet<string> = new Set(['str', 'int', 'float', 'bool', 'null', 'map', 'seq', 'merge'])

/** The text of one file, as YAML. JSON is YAML, too. */
export class Source {
  readonly file: string
  readonly #text: string
  readonly #at: (offset: number) => string

  constructor(file: string, text: string, env: Environment, placeholders: RegExp) {
    const filled = fill(text, env, placeholders)
    this.file = file
    this.#text = filled.text
    const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
    this.#at = (offset) => {
      const origin = filled.origin(offset)
      const line = firstAfter(starts, (start) => start <= origin)
      return `${file}:${line}:${origin - (starts[line - 1] ?? 0) + 1}`
    }
  }

  documents(): Tree[] {
    return this.#read(this.#text)
  }

  /** Parses a text within the text as YAML. Blanks replace everything before it, so that positions stay correct. */
  within([from, to]: readonly [number, number]): Tree[] {
    // A document mark must be at the left margin, but this text is indented.
    const text = this.#text.slice(from, to).replace(/^( *)---(?=\s)/gm, '$1   ')
    return this.#read(this.#text.slice(0, from).replace(/[^\n]/g, ' ') + text)
  }

  #read(text: string): Tree[] {
    // Duplicate names are checked below, in less time.
    const how = { prettyErrors: false, logLevel: 'silent', merge: true, uniqueKeys: false } as const
    const documents = parseAllDocuments(text, how)
    return [...documents].map((document) => {
      const [error] = document.errors
      // The parser's own message may show the content.
      if (error !== undefined) throw wrong(this.#at(error.pos[0]), notYaml(error.code))
      return this.#treeOf(document.contents, { aliases: aliasesIn(document), copied: 0, spent: 0 }, 0)
    })
  }

  #treeOf(node: Node | null, reading: Aliases, depth: number): Tree {
    const at = this.#at(node?.range?.[0] ?? 0)
    if (depth > DEEPEST) throw wrong(at, 'this contains itself, or is nested too deeply')
    if (reading.copied > 0 && (reading.copied += 1) > MOST_COPIED) throw wrong(at, 'aliases (*name) repeat too much')
    if (isAlias(node)) return this.#copyOf(node, at, reading, depth)
    const tag = this.#classOf(node?.tag, at)
    if (isMap(node)) return this.#mapOf(node.items as readonly Pair[], reading, { at, tag, depth })
    if (isSeq(node)) {
      const items = node.items.map((item) => this.#treeOf(item as Node, reading, depth + 1))
      return { kind: 'list', at, tag, items }
    }
    if (isScalar(node) && node.value === null && node.anchor !== undefined && !node.source)
      throw wrong(at, 'this is an anchor without a value; put a value that begins with & in quotes')
    if (!isScalar(node) || node.value === null) return { kind: 'nothing', at, tag }
    // A value that YAML reads as a number may be a password, so this keeps it as it was written.
    const text = typeof node.value === 'string' ? node.value : (node.source ?? '')
    return { kind: 'text', at, tag, text, block: this.#blockOf(node) }
  }

  /** The value of an alias. Each use makes a copy, so there must be a limit. */
  #copyOf(alias: Alias, at: string, reading: Aliases, depth: number): Tree {
    const node = reading.aliases.get(alias)
    if (node === undefined)
      throw wrong(at, 'this names an anchor (&name) that does not exist; put a value that begins with * in quotes')
    const outermost = reading.copied === 0
    if (outermost) reading.copied = reading.spent + 1
    const tree = this.#treeOf(node, reading, depth + 1)
    if (outermost) {
      reading.spent = reading.copied
      reading.copied = 0
    }
    return tree
  }

  /** Fields in the map itself have priority over merged ones, and among those, the first. */
  #mapOf(pairs: readonly Pair[], reading: Aliases, { at, tag, depth }: Place): Tree {
    const found = new Map<string, Entry>()
    const own = new Set<string>()
    for (const { key, value } of pairs) {
      const place = this.#at(key.range?.[0] ?? 0)
      const tree = this.#treeOf(value, reading, depth + 1)
      if (isMerge(key)) {
        for (const entry of this.#merged(tree, place)) if (!found.has(entry.name)) found.set(entry.name, entry)
        continue
      }
      const name = isScalar(key) ? String(key.value) : '?'
      if (own.has(name)) throw wrong(place, notYaml('DUPLICATE_KEY'))
      own.add(name)
      found.set(name, { name, at: place, value: tree })
    }
    const entries = [...found.values()]
    // How JSON names a class.
    const type = entries.find(({ name }) => name === 'class' || name === '@class')
    if (type?.value.kind !== 'text') return { kind: 'map', at, tag, entries }
    return { kind: 'map', at, tag: tag ?? type.value.text, entries: entries.filter((entry) => entry !== type) }
  }

  #merged(tree: Tree, at: string): readonly Entry[] {
    if (tree.kind === 'map') return tree.entries
    if (tree.kind !== 'list' || tree.items.some(({ kind }) => kind !== 'map'))
      throw wrong(at, '<< can merge only fields, or a list of fields')
    return tree.items.flatMap((item) => (item.kind === 'map' ? item.entries : []))
  }

  /** `!<a.b.C>`, `!a.b.C` and `!!a.b.C` name a class. A tag that is neither a class nor one of YAML's own has no known meaning. */
  #classOf(tag: string | undefined, at: string): string | undefined {
    const name = tag?.replace(/^(!|tag:yaml\.org,2002:)/, '')
    if (name === undefined || name === '') return undefined
    if (/^[A-Za-z_$][\w$]*(\.[\w$]+)+$/.test(name)) return name
    if (tag?.startsWith('tag:') === true && PLAIN_TAGS.has(name)) return undefined
    throw wrong(at, 'this tag is unknown; put a value that begins with ! in quotes')
  }

  /** The range of a text with several lines. */
  #blockOf({
    type,
    range,
  }: {
    type?: string
    range?: readonly number[] | null
  }): readonly [number, number] | undefined {
    if (type !== 'BLOCK_LITERAL' && type !== 'BLOCK_FOLDED') return undefined
    const [from = 0, to = 0] = range ?? []
    return [this.#text.indexOf('\n', from) + 1, to]
  }
}

interface Aliases {
  readonly aliases: ReadonlyMap<Alias, Node>
  /** How many nodes have been made for aliases, while an alias is being copied; else 0. */
  copied: number
  /** How many nodes were made for the aliases before. */
  spent: number
}

/** The node of each alias: the last one before it with its name. */
const aliasesIn = (document: Document): Map<Alias, Node> => {
  const anchors = new Map<string, Node>()
  const aliases = new Map<Alias, Node>()
  visit(document, {
    Node: (_, node) => {
      const meant = isAlias(node) ? anchors.get(node.source) : undefined
      if (isAlias(node) && meant !== undefined) aliases.set(node, meant)
      else if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return aliases
}

const isMerge = (key: Node): boolean =>
  isScalar(key) && (key.tag === MERGE || (key.type === 'PLAIN' && key.source === '<<'))
const MERGE = 'tag:yaml.org,2002:merge'

interface Pair {
  readonly key: Node
  readonly value: Node | null
}

interface Place {
  readonly at: string
  readonly tag: string | undefined
  readonly depth: number
}

const notYaml = (code: string): string =>
  `this is not YAML (${code.toLowerCase().replaceAll('_', ' ')}); put a value with special characters in quotes`
