// Bundles a patched copy of the Lua VM (fengari) that the memory engine runs scripts on.
import { readFileSync, statSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { isMain } from './is-main.mjs'
import { patches } from './vm/patches.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..')
const fengari = join(root, 'node_modules', 'fengari')
const defaultOutput = join(root, 'src', 'engine', 'memory', 'lua', 'vm.gen.js')

const sources = () => [
  fileURLToPath(import.meta.url),
  ...readdirSync(join(here, 'vm'), { recursive: true }).map((name) => join(here, 'vm', name)),
  join(fengari, 'package.json'),
]

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const count = (text, part) => text.split(part).length - 1

/** Applies one patch; a text that is not there exactly as often as expected means another fengari: the build fails. */
const apply = (text, patch, file) => {
  if (patch.whole) return patch.to
  const from = patch.from ?? functionText(text, patch.fn, file)
  const expected = patch.times ?? 1
  const found = count(text, from)
  if (found !== expected) {
    throw new Error(`${file}: expected ${expected} match(es) but found ${found} of:\n${from}`)
  }
  return text.split(from).join(patch.to)
}

/** The text of a top-level `const name = function … };`, so that a whole function can be replaced by its name. */
const functionText = (text, name, file) => {
  const start = text.indexOf(`\nconst ${name} = `)
  const end = text.indexOf('\n};\n', start)
  if (start < 0 || end < 0) throw new Error(`${file}: no function ${name}`)
  return text.slice(start, end + 4)
}

const used = new Set()

// Internal checks that cost time on every instruction and only ever fail when the VM itself is wrong.
const checks = /^[ \t]*(?:lua_assert|api_check|(?:lapi\.)?api_checknelems|fengari_argcheck(?:integer)?)\(.*\);.*$/gm

const patched = (path) => {
  const file = basename(path)
  let text = readFileSync(path, 'utf8')
  for (const patch of patches[file] ?? []) text = apply(text, patch, file)
  used.add(file)
  return text.replace(checks, ';')
}

const plugin = {
  name: 'patch-fengari',
  setup(builder) {
    // The VM never needs these, and they would pull in Node built-ins.
    builder.onResolve({ filter: /\/(lundump|ldump)\.js$/ }, (args) => ({ path: args.path, namespace: 'left-out' }))
    builder.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {}', loader: 'js' }))
    builder.onLoad({ filter: /fengari[\\/]src[\\/][a-z]+\.js$/ }, (args) => ({
      contents: patched(args.path),
      loader: 'js',
    }))
  },
}

const banner = () => {
  const licence = readFileSync(join(fengari, 'LICENSE'), 'utf8').trim()
  const lines = licence.split('\n').map((line) => ` * ${line}`.trimEnd())
  return ['/*!', ' * Contains a modified copy of fengari 0.1.5 (https://fengari.io):', ' *', ...lines, ' */'].join('\n')
}

/** Builds the VM into `outfile`, unless that is newer than everything it is made of. */
export async function buildVm(outfile = defaultOutput) {
  if (modified(outfile) > Math.max(...sources().map(modified))) return
  const result = await build({
    entryPoints: [join(here, 'vm', 'entry.js')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    minify: true,
    legalComments: 'inline',
    banner: { js: banner() },
    plugins: [plugin],
    logLevel: 'warning',
  })
  for (const file of Object.keys(patches)) if (!used.has(file)) throw new Error(`patches for ${file} were not used`)
  await mkdir(dirname(outfile), { recursive: true })
  await writeFile(outfile, result.outputFiles[0].contents)
}

if (isMain(import.meta.url)) await buildVm(process.argv[2])
