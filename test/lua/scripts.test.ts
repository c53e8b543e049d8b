import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as constants from '#src/script-times-and-limits.js'
import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import { LIBRARY, generate } from '../../scripts/build-lua.mjs'
import { MOST_LINES, codeLines } from '../../scripts/lua/check.mjs'
import { readConstants } from '../../scripts/lua/constants.mjs'
import { kindOf, withFunctions } from '../../scripts/lua/functions.mjs'
import { parseHeader } from '../../scripts/lua/header.mjs'
import { tokenize } from '../../scripts/lua/tokens.mjs'
import { TRIAL } from '#src/script-times-and-limits.js'

const root = process.cwd()
const scripts = Object.values(generated) as readonly Script[]
const FRAGMENTS = join(root, 'src/lua/fragments')
const fragments = readdirSync(FRAGMENTS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'))

/** Without its header, and with the names of its slots. */
const sourceOf = ({ name }: Script): string => {
  const file = name.startsWith('core/') ? `src/${name}.lua` : `src/sync/${name}.lua`
  return parseHeader(readFileSync(join(root, file), 'utf8')).body
}

const texts = new Map(fragments.map((file) => [file.slice(0, -4), readFileSync(join(FRAGMENTS, file), 'utf8')]))
const whole = new Map(
  scripts.map((script) => [script, withFunctions(kindOf(script.name), sourceOf(script), texts)] as const),
)

test('the committed file is what the .lua files give', () => {
  assert.equal(readFileSync(join(root, 'src/lua/scripts.gen.ts'), 'utf8'), generate(root))
})

describe('each script', () => {
  for (const script of scripts) {
    test(script.name, () => {
      assert.equal(script.sha, createHash('sha1').update(script.text).digest('hex'))
      const values: Readonly<Record<string, string | number>> = { ...constants }
      const words = (lua: string): string[] => tokenize(lua).map(({ text }) => String(values[text] ?? text))
      if (whole.get(script)?.names.length === 0) assert.deepEqual(words(script.text), words(sourceOf(script)))
    })
  }
})

describe('each fragment', () => {
  for (const file of fragments) {
    const name = file.replace(/\.lua$/, '')
    test(`${name} is long enough, and used by more than one script, unless that would be too long without it`, () => {
      const users = scripts.filter((script) => whole.get(script)?.names.includes(name))
      const text = texts.get(name) ?? ''
      const [only] = users
      const splitsIt = users.length === 1 && only !== undefined && codeLines(sourceOf(only) + text) > MOST_LINES
      assert.ok(users.length >= 2 || splitsIt, `only ${users.length} uses it`)
      assert.ok(text.split('\n').length > 4)
    })
  }
})

describe('the constants', () => {
  const source = readFileSync(join(root, 'src/script-times-and-limits.ts'), 'utf8')

  test('are the same for the scripts and for the client', () => {
    assert.deepEqual(readConstants(source), { ...constants })
  })

  test('a trial that is changed there → changes for the client and in every script that knows of it', () => {
    const longer = source.replace('TRIAL = 3000', 'TRIAL = 6000')
    assert.equal(readConstants(longer)['TRIAL'], 2 * TRIAL)
    const now = generate(root, LIBRARY, longer)
    const changed = scripts.filter(({ sha }) => !now.includes(sha)).map(({ name }) => name)
    const knowing = scripts.filter((script) => /\b(TRIAL|TRIAL_MARKED|POLL)\b/.test(whole.get(script)?.text ?? ''))
    assert.ok(changed.length > 20)
    assert.deepEqual(
      changed,
      knowing.map(({ name }) => name),
    )
  })

  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.(lua|ts)$/.test(file) && !file.endsWith('.gen.ts') && !file.startsWith('testing/'),
  )
  const sources = files.map((file) =>
    readFileSync(join(root, 'src', file), 'utf8').replaceAll(/^ *(--|\/?\*).*$/gm, ''),
  )
  for (const name of Object.keys(constants)) {
    const made = new RegExp(`^export const ${name} = .*[A-Z]`, 'm').test(source)
    test(`${name} is one because two files need it, or made of one`, () => {
      const users = sources.filter((text) =>
        new RegExp(`\\b${name}\\b`).test(text.replace(`export const ${name} =`, '')),
      )
      assert.ok(users.length >= 2 || (made && users.length === 1), `only ${users.length} uses it`)
    })
  }
})
