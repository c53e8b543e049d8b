import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as holdfast from 'holdfast'
import { lines } from '../mutants/lines.mjs'

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
const source = readFileSync(new URL('../../../src/errors.ts', import.meta.url), 'utf8')

void test('docs/errors.md → names every error class that is exported, and no other', () => {
  const exported = Object.keys(holdfast).filter((name) => name.endsWith('Error'))
  const told = new Set([...page.matchAll(/^\| `(\w+Error)`/gm)].map(([, name]) => name))
  assert.deepEqual([...told].sort(), exported.sort())
})

void test('docs/errors.md → names every code that the source knows, and no other', () => {
  const known = new Set([...source.matchAll(/'([A-Z][A-Z_]+)'/g)].map(([, code]) => code))
  const told = new Set([...page.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code]) => code))
  assert.deepEqual([...told].sort(), [...known].sort())
})

/** Runs the page's nth example as it stands, in a process of its own that finds the package by its name. */
const run = async (file: string, nth: number): Promise<string> => {
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
  const code = [...text.matchAll(/```js\n([\s\S]*?)```/g)][nth]?.[1] ?? ''
  const program = fileURLToPath(new URL(`example-${process.pid}-${file.replaceAll('/', '-')}.mjs`, import.meta.url))
  writeFileSync(program, code)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program])
    return stdout
  } finally {
    rmSync(program)
  }
}

void test('the ten lines of the README → work as they stand', async () => {
  assert.equal(await run('README.md', 0), '42\n')
})

for (const [nth, of, prints] of [
  [0, 'permits with an id', '2\n'],
  [1, 'fenced locks', '50\n'],
  [2, 'tests', 'lost\n'],
] as const)
  void test(`the example of ${of} in the guide → works as it stands`, async () => {
    assert.equal(await run('docs/guide.md', nth), prints)
  })

void test('the example of docs/leaders.md → works as it stands', async () => {
  assert.equal(await run('docs/leaders.md', 0), 'leading, term 1n\n')
})

void test('the example of docs/slots.md → works as it stands', async () => {
  assert.equal(await run('docs/slots.md', 0), 'ran skipped ran\n')
})

void test('the example of the nightly report → one of three instances writes it', async () => {
  const program = fileURLToPath(new URL('../../examples/nightly-report.js', import.meta.url))
  const env = { ...process.env }
  delete env['HOLDFAST_URL']
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  const said = stdout
    .replaceAll(/\d{4}-\d\d-\d\d/g, 'today')
    .trim()
    .split('\n')
    .sort()
  assert.deepEqual(said, [
    'ada: done, token 1',
    'ada: writing the report',
    'bob: the report of today is written already',
    'cleo: the report of today is written already',
  ])
})

void test('the guide’s Trust → names what cannot be noticed in time, and what stays on the server after close', () => {
  const guide = readFileSync(new URL('../../../docs/guide.md', import.meta.url), 'utf8')
  const trust = guide.slice(guide.indexOf('\n## Trust\n'), guide.indexOf('\n## ', guide.indexOf('\n## Trust\n') + 1))
  for (const said of [
    /\*\*The process is paused\*\*.*virtual machine that was paused/s,
    /\*\*The server's wall clock steps\.\*\*.*forward.*back/s,
    /\*\*A process image is cloned\*\*/,
    /\*\*A release by force, or a deleted key\*\*.*pass\s+the\s+lock\s+from\s+one\s+call\s+to\s+the\s+next\s+without\s+the\s+server/s,
    /\*\*What stays on the server\.\*\*.*taken from them by\s+hand/s,
    /`holdfast_request:…`.*2 minutes/,
  ])
    assert.match(trust, said)
  const security = readFileSync(new URL('../../../SECURITY.md', import.meta.url), 'utf8')
  assert.match(security, /by the next answer of the server, within a third of the lease/)
})

void test('docs/how-it-works/testing.md → the suites and mutants of its table are there', () => {
  const text = readFileSync(new URL('../../../docs/how-it-works/testing.md', import.meta.url), 'utf8')
  const rows = [...text.slice(text.indexOf('<!-- suites')).matchAll(/^\| [^|]+ \| ([^|]+) \|([^|]*)\|$/gm)].slice(1)
  const named = (cells: readonly string[]): string[] =>
    cells.flatMap((cell) => [...cell.matchAll(/`([\w/-]{4,})`/g)].map(([, name = '']) => name))
  const suites = named(rows.map(([, cell = '']) => cell))
  const mutants = named(rows.map(([, , cell = '']) => cell))
  const isThere = (suite: string): boolean => ['.test.ts', '.ts', '/'].some((end) => existsSync(`test/${suite}${end}`))
  const known = (name: string): boolean =>
    existsSync(`test/mutants/${name}.patch`) || lines.some((line) => line.name === name)
  assert.ok(suites.length > 40 && mutants.length > 40)
  assert.deepEqual([...suites.filter((name) => !isThere(name)), ...mutants.filter((name) => !known(name))], [])
})

/** The examples of docs/errors.md, by class: the code, and the lines that it prints. */
const examplesOfErrors = [...page.matchAll(/^### (\w+)\n\n```js\n([^]*?)^```$/gm)].map(([, name = '', code = '']) => ({
  name,
  code,
  prints: [...code.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, line = '']) => line),
}))

void test('docs/errors.md → has an example of every class', () => {
  const exported = Object.keys(holdfast).filter((name) => name.endsWith('Error'))
  assert.deepEqual(examplesOfErrors.map(({ name }) => name).sort(), exported.sort())
})

for (const { name, code, prints } of examplesOfErrors)
  void test(`the example of ${name} → prints what it says`, async () => {
    const program = fileURLToPath(new URL(`example-${process.pid}-${name}.mjs`, import.meta.url))
    const names = Object.keys(holdfast).join(', ')
    writeFileSync(
      program,
      `import { ${names} } from 'holdfast'\nconst client = await connect('memory:')\n${code}\nawait client.close()\n`,
    )
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [program])
      assert.ok(prints.length > 0)
      assert.deepEqual(stdout.trim().split('\n'), prints)
    } finally {
      rmSync(program)
    }
  })
