import { relative, sep } from 'node:path'
import { LIBRARIES, type Library } from './names.js'
import { readFiles, sourceFiles } from './read-files.js'

/** A use of another lock library. */
export interface Finding {
  /** The path of the file, from the folder that was checked, with `/` between its parts. */
  readonly file: string
  /** The line, from 1 on. */
  readonly line: number
  /** The package that the file imports. */
  readonly package: string
  /** The name of that package that the line uses; the package itself if the line imports it. */
  readonly name: string
  /** What it is called in holdfast. */
  readonly ours: string
  /** The page of holdfast's documentation about that package, if there is one. */
  readonly page?: string | undefined
}

/** Of one file: a longer list helps nobody. */
const MOST = 1000

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
const importOf = (name: string): RegExp =>
  new RegExp(`(?:from|import|require)\\b\\s*(?:\\(\\s*)?['"]${escaped(name)}['"/]`)
const dependencyOf = (name: string): RegExp => new RegExp(`"${escaped(name)}"\\s*:\\s*"`)
const nameOf = (name: string): RegExp =>
  name.startsWith('.') ? new RegExp(`\\.\\s*${name.slice(1)}\\s*[(<]`) : new RegExp(`(?<![\\w$.-])${name}(?![\\w$-])`)

/** How each package shows in a file, and each of its names. */
const SOUGHT = LIBRARIES.flatMap((library) =>
  library.packages.map((name) => ({
    ...{ library, name, imported: importOf(name), dependency: dependencyOf(name) },
    names: library.names.map(([word, ours]) => ({ word, ours, is: nameOf(word) })),
  })),
)
type Sought = (typeof SOUGHT)[number]

const pageOf = ({ page }: Library): Pick<Finding, 'page'> =>
  page === undefined ? {} : { page: `docs/migrate/${page}.md` }

/** What a line has of this package. */
function* inLine(
  line: string,
  { library, name, imported, dependency, names }: Sought,
  manifest: boolean,
): Generator<Pick<Finding, 'name' | 'ours'>, undefined> {
  if ((manifest ? dependency : imported).test(line)) yield { name, ours: library.ours }
  else if (!manifest) for (const { word, ours, is } of names) if (is.test(line)) yield { name: word, ours }
  return undefined
}

function* inText(file: string, text: string): Generator<Finding, undefined> {
  const manifest = /(?:^|\/)package\.json$/.test(file)
  const lines = text.split('\n')
  for (const sought of SOUGHT) {
    if (!manifest && !sought.imported.test(text)) continue
    for (const [i, line] of lines.entries())
      for (const found of inLine(line, sought, manifest))
        yield { file, line: i + 1, package: sought.name, ...found, ...pageOf(sought.library) }
  }
  return undefined
}

/** The first so many. */
const first = <T>(all: Iterable<T>, most: number): T[] => {
  const some: T[] = []
  for (const one of all) if (some.push(one) === most) break
  return some
}

/**
 * Finds uses of redlock, redis-semaphore, node-redisson and async-mutex in the source files and `package.json` files below a folder. It changes nothing. Skips
 * `node_modules`, `.git`, symbolic links, and files longer than 1 MiB.
 */
export async function* check(folder: string): AsyncGenerator<Finding, undefined> {
  for await (const { path, text } of readFiles(sourceFiles(folder)))
    yield* first(inText(relative(folder, path).split(sep).join('/'), text), MOST)
  return undefined
}
