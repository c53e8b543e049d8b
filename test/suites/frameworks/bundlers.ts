import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
export const PAGE = join(ROOT, 'docs/bundling.md')
const FOLDER = join(ROOT, 'test/suites/frameworks/packages/bundlers')
const MOST_MS = 120_000

/** Once `use` is done, each program prints how many ms old its process is. */
const program = (head: string, use: string): string => `${head}
const main = async (url) => {
${use}
  console.log(JSON.stringify({ done: true, ms: performance.now() }))
}
void main(process.argv[2])
`

/** One lock, acquired and released, by what each library documents. */
export const LIBRARIES = {
  holdfast: program(
    "import { connect } from 'holdfast'",
    `  const client = await connect(url)
  await client.lock('bundled').using(() => undefined)
  await client.close()`,
  ),
  'redlock 5': program(
    "import { Redis } from 'ioredis'\nimport Imported from 'redlock'",
    `  const redis = new Redis(url)
  const redlock = new (Imported.default ?? Imported)([redis])
  await redlock.using(['redlock'], 5000, async () => undefined)
  await redis.quit()`,
  ),
  'redis-semaphore 5': program(
    "import { Redis } from 'ioredis'\nimport { Mutex } from 'redis-semaphore'",
    `  const redis = new Redis(url)
  const mutex = new Mutex(redis, 'semaphore')
  await mutex.acquire()
  await mutex.release()
  await redis.quit()`,
  ),
  'ioredis alone': program(
    "import { Redis } from 'ioredis'",
    `  const redis = new Redis(url)
  await redis.set('plain', 1, 'PX', 1000)
  await redis.quit()`,
  ),
} as const
export type Library = keyof typeof LIBRARIES

const page = (): string => readFileSync(PAGE, 'utf8')

/** The page's one block of that language with this text in it. */
export const blockOf = (language: string, part: string): string => {
  const blocks = [...page().matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
  const found = blocks.filter(([, its, text = '']) => its === language && text.includes(part))
  if (found.length !== 1) throw new Error(`docs/bundling.md has ${found.length} blocks with ${part}`)
  return found[0]?.[2] ?? ''
}

/** In the order of the page; each by the block that does it. */
export const BUNDLERS = {
  'esbuild, CommonJS': { command: () => blockOf('sh', '--outfile=out/app.cjs'), file: 'app.cjs' },
  'esbuild, ES module': { command: () => blockOf('sh', '--outfile=out/app.mjs'), file: 'app.mjs' },
  'esbuild, splitting': { command: () => blockOf('sh', '--splitting'), file: 'app.mjs' },
  Rollup: { config: 'rollup.config.mjs', command: () => 'rollup -c --silent', file: 'app.mjs' },
  webpack: {
    config: 'webpack.config.cjs',
    command: () =>
      `node -e "require('webpack')(require('./webpack.config.cjs'), (error, stats) => { if (error || stats.hasErrors()) { console.error(error || stats.toString()); process.exit(1) } })"`,
    file: 'app.cjs',
  },
} as const
export type Bundler = keyof typeof BUNDLERS

const env = (): NodeJS.ProcessEnv => {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...rest } = process.env
  const path = [join(FOLDER, 'node_modules/.bin'), dirname(process.execPath), rest['PATH']].join(delimiter)
  return { ...rest, PATH: path }
}

/** What a command of the shell says, with the packages of the bundlers on its PATH. */
export const shell = async (command: string, cwd: string): Promise<string> => {
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd, env: env(), timeout: MOST_MS })
  return stdout
}

/** A project of its own with these files, which has the packages of the bundlers. */
export const project = (files: Readonly<Record<string, string>>): string => {
  if (!existsSync(join(FOLDER, 'node_modules/holdfast')))
    throw new Error('no bundlers: npm run test:frameworks installs them, and holdfast as it is published')
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bundlers-'))
  symlinkSync(join(FOLDER, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  return folder
}

export interface Bundle {
  /** What `node` starts, in a folder of its own. */
  readonly file: string
  /** Of all files. */
  readonly bytes: number
  remove(): void
}

/** As the page says; what comes out stands where there are no packages. */
export const bundle = async (bundler: Bundler, library: Library): Promise<Bundle> => {
  const way = BUNDLERS[bundler]
  const config = 'config' in way ? { [way.config]: blockOf('js', `// ${way.config}`) } : {}
  const folder = project({ 'app.mjs': LIBRARIES[library], ...config })
  await shell(way.command(), folder)
  const alone = mkdtempSync(join(tmpdir(), 'holdfast-bundle-'))
  cpSync(join(folder, 'out'), alone, { recursive: true })
  rmSync(folder, { recursive: true })
  const bytes = readdirSync(alone).reduce((sum, name) => sum + statSync(join(alone, name)).size, 0)
  return { file: join(alone, way.file), bytes, remove: () => rmSync(alone, { recursive: true }) }
}

/** How many ms old the process was when it had acquired and released the lock. */
export const start = async (file: string, url: string): Promise<number> => {
  const options = { cwd: dirname(file), env: env(), timeout: MOST_MS }
  const { stdout } = await promisify(execFile)(process.execPath, [file, url], options)
  const { done, ms } = JSON.parse(stdout) as { done: boolean; ms: number }
  if (!done) throw new Error(stdout)
  return ms
}

const BEGIN = '<!-- sizes and starts: made by .build/test/suites/frameworks/bundle-table.js -->\n\n'
const END = '<!-- end of sizes and starts -->'

export const withTable = (text: string, table: string): string => {
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error('docs/bundling.md has no place for the table')
  return `${before}${BEGIN}${table}\n\n${END}${after}`
}

/** kB of a cell, as the page says. */
export const saidSize = (bundler: Bundler, library: Library): number => {
  const [, row = ''] = new RegExp(`^\\| ${bundler} \\| (.*) \\|$`, 'm').exec(page()) ?? []
  const cell = row.split(' | ')[Object.keys(LIBRARIES).indexOf(library)] ?? ''
  return Number(/^(\d+) kB/.exec(cell)?.[1])
}
