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

/** The symbols that the modules of the package export. */
const exportsOf = (program: ts.Program): readonly ts.Symbol[] => {
  const checker = program.getTypeChecker()
  const originalOf = (symbol: ts.Symbol): ts.Symbol =>
    (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol
  return program.getRootFileNames().flatMap((entry) => {
    const file = program.getSourceFile(entry)
    const module = file && checker.getSymbolAtLocation(file)
    assert.ok(module !== undefined, entry)
    return checker.getExportsOfModule(module).map(originalOf)
  })
}

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
  for (const symbol of exportsOf(program)) {
    note(symbol, symbol.name)
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    if (!type.isUnion()) for (const member of type.getProperties()) note(member, `${symbol.name}.${member.name}`)
  }
  const isBare = (symbol: ts.Symbol): boolean =>
    symbol.getDocumentationComment(checker).length === 0 && symbol.getJsDocTags().length === 0
  return { all: names.size, bare: [...names].filter(([symbol]) => isBare(symbol)).map(([, name]) => name) }
}

/** The types whose members you pass: they are called options, except for a few. */
const IS_OPTIONS = /Options$|^(Buckets|HistoryChoices|HoldfastModuleExtras|Rate|ScriptInput|SpinBackoff)$/
/** `Default 1000.` for a value, `Default: the client's codec.` in words. */
const SAYS_DEFAULT = /\bDefault:?\s\S/

/** The members of options that you may omit, and those of them that do not say what happens then. */
const defaultless = (program: ts.Program): { readonly all: number; readonly bare: readonly string[] } => {
  const checker = program.getTypeChecker()
  const membersOf = (symbol: ts.Symbol): readonly ts.Symbol[] => {
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    return (type.isUnion() ? type.types : [type]).flatMap((one) => one.getProperties())
  }
  const optional = exportsOf(program)
    .filter(({ name }) => IS_OPTIONS.test(name))
    .flatMap((symbol) => membersOf(symbol).map((member) => ({ member, name: `${symbol.name}.${member.name}` })))
    .filter(({ member }) => (member.flags & ts.SymbolFlags.Optional) !== 0)
  const saysDefault = (member: ts.Symbol): boolean =>
    SAYS_DEFAULT.test(ts.displayPartsToString(member.getDocumentationComment(checker)))
  const bare = optional.filter(({ member }) => !saysDefault(member)).map(({ name }) => name)
  return { all: optional.length, bare }
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

  test('every optional member of options says its default, such as “Default 1000.” or “Default: none.”', () => {
    const { all, bare } = defaultless(read(folder))
    assert.deepEqual(bare, [])
    assert.ok(all > 150, `${all} members`)
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
