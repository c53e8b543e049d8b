import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as holdfast from 'holdfast'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const source = readFileSync(new URL('../../src/errors.ts', import.meta.url), 'utf8')

test('docs/errors.md → names every error class that is exported, and no other', () => {
  const exported = Object.keys(holdfast).filter((name) => name.endsWith('Error'))
  const told = new Set([...page.matchAll(/^\| `(\w+Error)`/gm)].map(([, name]) => name))
  assert.deepEqual([...told].sort(), exported.sort())
})

test('docs/errors.md → names every code that the source knows, and no other', () => {
  const known = new Set([...source.matchAll(/'([A-Z][A-Z_]+)'/g)].map(([, code]) => code))
  const told = new Set([...page.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code]) => code))
  assert.deepEqual([...told].sort(), [...known].sort())
})

const example = (file: string, nth: number): string =>
  [...readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)][nth]?.[1] ?? ''

const run = async (code: string): Promise<string[]> => {
  const printed: string[] = []
  const body = code.replace(/^import \{ (\w+) \} from '(.*)'$/gm, "const { $1 } = await import('$2')")
  const main = Object.getPrototypeOf(async () => undefined).constructor as FunctionConstructor
  const task = new main('console', 'load', body.replaceAll('await import(', 'await load('))
  await task({ log: (text: unknown) => printed.push(String(text)) }, (name: string) => import(name))
  return printed
}

test('the ten lines of the README → work as they stand', async () => {
  assert.deepEqual(await run(example('README.md', 0)), ['42'])
})

test('the test example of the guide → works as it stands', async () => {
  assert.deepEqual(await run(example('docs/guide.md', 0)), ['lost'])
})
