import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import { generate } from '../../scripts/build-lua.mjs'
import { MOST_LINES, codeLines } from '../../scripts/lua/check.mjs'
import { tokenize } from '../../scripts/lua/tokens.mjs'

const root = process.cwd()
const scripts = Object.values(generated) as readonly Script[]
const FRAGMENTS = join(root, 'src/lua/fragments')
const fragments = readdirSync(FRAGMENTS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'))

const sourceOf = ({ name }: Script): string => {
  const file = name.startsWith('core/') ? `src/${name}.lua` : `src/sync/${name}.lua`
  return readFileSync(join(root, file), 'utf8')
}

test('the committed file is what the .lua files give', () => {
  assert.equal(readFileSync(join(root, 'src/lua/scripts.gen.ts'), 'utf8'), generate(root))
})

describe('each script', () => {
  for (const script of scripts) {
    test(script.name, () => {
      assert.equal(script.sha, createHash('sha1').update(script.text).digest('hex'))
      const source = sourceOf(script)
      if (source.includes('--include')) return
      const words = (lua: string): string[] => tokenize(lua).map((token) => token.text)
      assert.deepEqual(words(script.text), words(source))
    })
  }
})

describe('each fragment', () => {
  for (const file of fragments) {
    const name = file.replace(/\.lua$/, '')
    test(`${name} is long enough, and used by more than one script, unless that would be too long without it`, () => {
      const users = scripts.filter((script) => new RegExp(`^--include ${name}$`, 'm').test(sourceOf(script)))
      const text = readFileSync(join(FRAGMENTS, file), 'utf8')
      const [only] = users
      const splitsIt = users.length === 1 && only !== undefined && codeLines(sourceOf(only) + text) > MOST_LINES
      assert.ok(users.length >= 2 || splitsIt, `only ${users.length} uses it`)
      assert.ok(text.split('\n').length > 4)
    })
  }
})
