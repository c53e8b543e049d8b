import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

interface Pages {
  readonly pages: Map<string, string>
  readonly broken: string[]
  has(link: string): boolean
}

interface Collect {
  collect(): Pages
  problemsOf(pages: Pages): string[]
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const { collect, problemsOf } = (await import(pathToFileURL(join(ROOT, 'site/collect.mjs')).href)) as Collect
const { addressOfCode } = (await import(pathToFileURL(join(ROOT, 'site/errors.mjs')).href)) as {
  addressOfCode(code: string): string
}

void describe('the pages of the site', () => {
  test('every link leads to a page and to a heading, and the navigation names every page', () => {
    const pages = collect()
    assert.ok(pages.pages.size > 80, `${pages.pages.size} pages`)
    assert.deepEqual(problemsOf(pages), [])
  })

  test('a link to a file, a heading or a page that is not there → a problem', () => {
    const pages = collect()
    pages.broken.push('docs/guide.md: nowhere.ts')
    pages.pages.set(
      'extra.md',
      '# Extra\n\n[one](/guide.md#no-such-heading) [two](/none.md) [three](#extra) [four](guide.md#trust)',
    )
    assert.deepEqual(problemsOf(pages), [
      'docs/guide.md: nowhere.ts leads nowhere',
      'extra.md: /guide.md#no-such-heading leads nowhere',
      'extra.md: /none.md leads nowhere',
      'extra.md: site/navigation.mjs does not name it',
    ])
  })

  test('every code of docs/errors.md has a page that says when and what to do', () => {
    const { pages } = collect()
    const table = pages.get('errors.md') ?? ''
    const codes = [...table.matchAll(/\[`([A-Z_]+)`\]\(\/errors\//g)].map(([, code = '']) => code)
    assert.ok(new Set(codes).size > 30, codes.join(' '))
    for (const code of codes) {
      const text = pages.get(addressOfCode(code)) ?? ''
      for (const part of ['## When it happens', '## What to do', '## Example'])
        assert.ok(text.includes(part), `${code}: ${part}`)
    }
  })

  test('the start page names no host', () => {
    assert.doesNotMatch(collect().pages.get('index.md') ?? 'https:', /https?:/)
  })
})
