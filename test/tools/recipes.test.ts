import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { programsOf } from '../suites/recipes/recipe.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const FOLDER = 'docs/recipes'
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const pages = readdirSync(join(root, FOLDER)).filter((name) => name.endsWith('.md') && name !== 'README.md')

/** As GitHub makes them of the headings. */
const anchorsOf = (text: string): string[] =>
  [...text.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** The links of a page that lead nowhere. */
const broken = (path: string): string[] =>
  [...read(path).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^https?:/.test(link))
    .filter((link) => {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : normalize(join(dirname(path), file))
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor)
    })

void test('docs/recipes → the index has each page once', () => {
  const linked = [...read(`${FOLDER}/README.md`).matchAll(/^\|.*\]\(([\w-]+\.md)\).*\|$/gm)].map(([, name]) => name)
  assert.deepEqual(linked.sort(), [...pages].sort())
  assert.equal(pages.length, 13)
})

for (const page of pages) {
  void test(`docs/recipes/${page} → short, a whole program, the parts that each page has, a test, no broken link`, async () => {
    const text = read(`${FOLDER}/${page}`)
    assert.ok(Buffer.byteLength(text) <= 5000, `${Buffer.byteLength(text)} bytes`)
    const programs = await programsOf(page)
    assert.ok(programs.size > 0)
    for (const [file, code] of programs) {
      assert.ok(code.split('\n').length <= 61, `${file} is long`)
      if (file.endsWith('.mjs')) assert.match(code, / from 'holdfast'\n/)
    }
    const parts = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)
    assert.deepEqual(parts, ['Run it', 'Why it is written so', 'What can go wrong', 'Change it for your case'])
    const tests = ['recipes', 'interop'].flatMap((suite) =>
      readdirSync(join(root, 'test/suites', suite))
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => read(`test/suites/${suite}/${name}`)),
    )
    assert.ok(
      tests.some((test) => test.includes(page)),
      'no test of it',
    )
    assert.deepEqual(broken(`${FOLDER}/${page}`), [])
  })
}

void test('links of docs/recipes/README.md → none is broken', () => {
  assert.deepEqual(broken(`${FOLDER}/README.md`), [])
})
