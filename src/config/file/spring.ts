import { pathOf } from './tls-of-file.js'
import { type Entry, type Source, type Tree, wrong } from './yaml-tree.js'

/** What Spring's application.yml says about Redisson: the path of another file, or the whole configuration. */
export type Spring = { readonly path: string } | { readonly config: Tree; readonly loose: boolean }

const PREFIXES = ['spring.redis.redisson', 'spring.data.redis.redisson']

/** Whether the file is Spring's: Redisson has no field with that name. */
export const isSpring = (documents: readonly Tree[]): boolean =>
  documents.some((one) => one.kind === 'map' && one.entries.some(({ name }) => /^spring(\.|$)/.test(name)))

/**
 * The last document that configures Redisson counts, as in Spring; documents for a profile do not count. `file`: `classpath:` is
 * relative to its folder.
 */
export const springIn = (source: Source, documents: readonly Tree[], file: string): Spring => {
  const always = documents.filter((one) => !PROFILES.some((profile) => found(one, profile)))
  for (const document of [...always].reverse()) {
    for (const prefix of PREFIXES) {
      const config = found(document, `${prefix}.config`)
      if (config !== undefined) return inline(source, config.value)
      const named = found(document, `${prefix}.file`)
      if (named?.value.kind === 'text') return { path: pathNamed(named.value.text, named.value.at, file) }
    }
  }
  const [first] = always
  throw wrong(
    first?.at ?? file,
    'spring.redis.redisson.file or spring.redis.redisson.config (or spring.data.redis.redisson…) is missing: holdfast reads Redisson’s own settings, not Spring’s',
  )
}

const pathNamed = (text: string, at: string, file: string): string => {
  try {
    return pathOf(text, file)
  } catch {
    throw wrong(at, 'file must be a path, file:///path or classpath:path')
  }
}

const PROFILES = ['spring.config.activate.on-profile', 'spring.profiles']

/** Names may be nested, joined by dots, or both. */
const found = (tree: Tree, path: string): Entry | undefined => {
  if (tree.kind !== 'map') return undefined
  for (const entry of tree.entries) {
    if (entry.name === path) return entry
    if (!path.startsWith(`${entry.name}.`)) continue
    const deeper = found(entry.value, path.slice(entry.name.length + 1))
    if (deeper !== undefined) return deeper
  }
  return undefined
}

const inline = (source: Source, tree: Tree): Spring => {
  if (tree.kind === 'map') return { config: tree, loose: true }
  const config = tree.kind === 'text' && tree.block !== undefined ? source.within(tree.block)[0] : undefined
  if (config !== undefined) return { config, loose: false }
  throw wrong(tree.at, 'the configuration must be a block: config: | and indented lines below it')
}
