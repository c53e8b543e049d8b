import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly types?: string }>>
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest & Record<string, unknown>
const entries = Object.values(manifest.exports).flatMap(({ types }) => types ?? [])

/** What a compiler reads of the package in this folder. */
const read = (folder: string): ts.Program =>
  ts.createProgram(
    entries.map((path) => join(folder, path)),
    {
      module: ts.ModuleKind.Node16,
      target: ts.ScriptTarget.ES2022,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
  )

/** The names and members that say nothing of themselves. */
const undocumented = (program: ts.Program): { readonly all: number; readonly bare: readonly string[] } => {
  const checker = program.getTypeChecker()
  const isOurs = (symbol: ts.Symbol): boolean =>
    symbol.declarations?.some((one) => !one.getSourceFile().fileName.includes('node_modules')) === true
  const isPrivate = (symbol: ts.Symbol): boolean =>
    symbol.declarations?.some((one) => (ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Private) !== 0) === true
  const names = new Map<ts.Symbol, string>()
  const note = (symbol: ts.Symbol, name: string): void => {
    if (isOurs(symbol) && !isPrivate(symbol) && !names.has(symbol)) names.set(symbol, name)
  }
  for (const entry of program.getRootFileNames()) {
    const file = program.getSourceFile(entry)
    const module = file && checker.getSymbolAtLocation(file)
    assert.ok(module !== undefined, entry)
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = (exported.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(exported) : exported
      note(symbol, symbol.name)
      const type = checker.getDeclaredTypeOfSymbol(symbol)
      if (!type.isUnion()) for (const member of type.getProperties()) note(member, `${symbol.name}.${member.name}`)
    }
  }
  const isBare = (symbol: ts.Symbol): boolean =>
    symbol.getDocumentationComment(checker).length === 0 && symbol.getJsDocTags().length === 0
  return { all: names.size, bare: [...names].filter(([symbol]) => isBare(symbol)).map(([, name]) => name) }
}

void describe('what an editor shows of the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-declarations-'))
  before(async () => {
    const script = pathToFileURL(join(ROOT, 'scripts/stage.mjs')).href
    const { stage } = (await import(script)) as { stage(folder: string): Promise<void> }
    await stage(folder)
  })
  after(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  test('every exported name and every member of it says what it is', () => {
    const { all, bare } = undocumented(read(folder))
    assert.deepEqual(bare, [])
    assert.ok(all > 400, `${all} names`)
  })

  test('no declaration is published that no import leads to', () => {
    const reached = new Set(
      read(folder)
        .getSourceFiles()
        .map(({ fileName }) => relative(folder, fileName)),
    )
    const published = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.d.ts'),
    )
    assert.ok(published.length > 20)
    assert.deepEqual(
      published.filter((path) => !reached.has(path)),
      [],
    )
  })

  test('npm shows where the source and the place for bugs are, and the README which compiler it takes', () => {
    for (const field of ['repository', 'homepage', 'bugs']) assert.ok(manifest[field] !== undefined, field)
    assert.match(readFileSync(join(ROOT, 'README.md'), 'utf8'), /TypeScript 5\.2 or newer/)
  })
})
