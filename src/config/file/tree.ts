import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments } from 'yaml'
import { ConfigError } from '../../errors.js'
import { type Environment, fill } from './placeholders.js'

/** A value of a file. `at` is where it stands: `file:line:column`. */
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

/** What is wrong, where, and what to do. Never a value: it may be a password that slipped. */
export const wrong = (at: string, what: string): ConfigError => new ConfigError(`${at}: ${what}`)

/** Deeper than any configuration; a value that holds itself would have no end. */
const DEEPEST = 30

/** The text of one file, as YAML. JSON is YAML, too. */
export class Source {
  readonly file: string
  readonly #text: string
  readonly #at: (offset: number) => string

  constructor(file: string, text: string, env: Environment, placeholders: RegExp) {
    const filled = fill(text, env, placeholders)
    this.file = file
    this.#text = filled.text
    this.#at = (offset) => {
      const before = text.slice(0, filled.origin(offset)).split('\n')
      return `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
    }
  }

  documents(): Tree[] {
    return this.#read(this.#text)
  }

  /** A text within the text that is YAML itself. Blanks stand for what is before it, so that all stays where it is. */
  within([from, to]: readonly [number, number]): Tree[] {
    // A document begins at the left margin, which is not there.
    const text = this.#text.slice(from, to).replace(/^( *)---(?=\s)/gm, '$1   ')
    return this.#read(this.#text.slice(0, from).replace(/[^\n]/g, ' ') + text)
  }

  #read(text: string): Tree[] {
    const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent', keepSourceTokens: true })
    return [...documents].map((document) => {
      const [error] = document.errors
      // Its own message may show what stands there.
      if (error !== undefined) throw wrong(this.#at(error.pos[0]), notYaml(error.code))
      return this.#treeOf(document.contents, document, 0)
    })
  }

  #treeOf(node: Node | null, document: Document, depth: number): Tree {
    const at = this.#at(node?.range?.[0] ?? 0)
    if (depth > DEEPEST) throw wrong(at, 'this holds itself, or is too deep')
    if (isAlias(node)) return this.#treeOf(node.resolve(document) ?? null, document, depth + 1)
    const tag = classOf(node?.tag)
    if (isMap(node)) return this.#mapOf(node.items as readonly Pair[], document, { at, tag, depth })
    if (isSeq(node)) {
      const items = node.items.map((item) => this.#treeOf(item as Node, document, depth + 1))
      return { kind: 'list', at, items }
    }
    if (!isScalar(node) || node.value === null) return { kind: 'nothing', at, tag }
    // What YAML takes for a number may be a password: as it was written.
    const text = typeof node.value === 'string' ? node.value : (node.source ?? '')
    return { kind: 'text', at, tag, text, block: this.#blockOf(node) }
  }

  #mapOf(pairs: readonly Pair[], document: Document, { at, tag, depth }: Place): Tree {
    const entries = pairs.flatMap(({ key, value }): readonly Entry[] => {
      const name = isScalar(key) ? String(key.value) : '?'
      const tree = this.#treeOf(value, document, depth + 1)
      if (name === '<<' && tree.kind === 'map') return tree.entries
      return [{ name, at: this.#at(key.range?.[0] ?? 0), value: tree }]
    })
    // As JSON says it.
    const type = entries.find(({ name }) => name === 'class' || name === '@class')
    if (type?.value.kind !== 'text') return { kind: 'map', at, tag, entries }
    return { kind: 'map', at, tag: tag ?? type.value.text, entries: entries.filter((entry) => entry !== type) }
  }

  /** Where a text of several lines stands. */
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
  `this is not YAML (${code.toLowerCase().replaceAll('_', ' ')}); a value with special characters belongs in quotes`

/** `!<a.b.C>`, `!a.b.C` and `!!a.b.C` name a class. */
const classOf = (tag: string | undefined): string | undefined => {
  const name = tag?.replace(/^(!|tag:yaml\.org,2002:)/, '')
  return name !== undefined && /^[A-Za-z_$][\w$]*(\.[\w$]+)+$/.test(name) ? name : undefined
}
