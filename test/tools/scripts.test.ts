import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
const programs = [...new Set(Object.values(scripts).flatMap((command) => command.match(/scripts\/[\w-]+\.mjs/g) ?? []))]

/** What a module needs before it can begin, without `node:` and with what those need in turn. */
const needs = (file: string, seen = new Set<string>()): string[] => {
  if (seen.has(file)) return []
  seen.add(file)
  const imported = [...readFileSync(file, 'utf8').matchAll(/^(?:import|export|}) (?:.*from )?'(.*)'$/gm)]
  return imported.flatMap(([, name = '']) => {
    if (name.startsWith('.')) return needs(join(dirname(file), name), seen)
    return name.startsWith('node:') ? [] : `${file}: ${name}`
  })
}

describe('a clone in which nothing is installed yet', () => {
  for (const program of programs) test(`${program} begins with Node alone`, () => assert.deepEqual(needs(program), []))
})
