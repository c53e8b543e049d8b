import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

/** What docs, messages and comments of this project do not say, and what they say instead. docs/contributing/writing.md says why. */
const PHRASES: readonly (readonly [phrase: string, instead: string])[] = [
  ['is had', 'is held, is acquired'],
  ['was had', 'was held, was acquired'],
  ['be had', 'be acquired, be available'],
  ['who waits', 'a waiter'],
  ['is told', 'learns, gets a message, is notified'],
  ["nobody's", 'has no owner, no client’s'],
  ['of ours', 'our, of holdfast'],
  ['of theirs', 'their, of Redisson'],
  ['whoever', 'anybody who, the client that'],
  ['give back', 'release'],
  ['gives back', 'releases'],
  ['gave back', 'released'],
  ['given back', 'released'],
  ['giving back', 'releasing'],
  ['let go', 'release'],
  ['lets go', 'releases'],
  ['so much', 'the number, or a plain sentence'],
  ['it is said', 'the page that says it'],
  ['anew', 'again'],
]

/** History, tables that are generated from titles of tests, and the page that quotes bad examples. */
const EXEMPT = ['CHANGELOG.md', 'docs/benchmarks.md', 'docs/conformance.md', 'docs/contributing/writing.md']
/** The simulation's TypeScript is left out for now: its comments are still to be rewritten. */
const ROOMS = ['docs', 'interop', 'examples', 'src']
const isRead = (path: string): boolean =>
  /\.(md|ts|lua)$/.test(path) &&
  !EXEMPT.includes(path) &&
  !/\.gen\.ts$|^src\/testing\/.*(?<!\.lua)$|node_modules/.test(path)

const ROOT = new URL('../../../', import.meta.url)

/** Between two words of a phrase: the text may go on in the next line, also of a comment. */
const GAP = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|//|--|>)?[ \t]*)`
const patterns = PHRASES.map(([phrase, instead]) => ({
  phrase,
  instead,
  pattern: new RegExp(String.raw`(?<![\w-])${phrase.replaceAll("'", "['’]").replaceAll(' ', GAP)}(?![\w-])`, 'gi'),
}))

/** Code and quotes on a page are not its own words, nor is the code of a script. What stands in their place keeps the line numbers. */
const ownWords = (path: string, text: string): string =>
  (path.endsWith('.lua') ? text.replace(/^(?![^\S\n]*--).*/gm, '') : text).replace(
    /^```[^]*?^```|`[^`\n]*`|“[^”\n]*”/gm,
    (quote) => quote.replace(/[^\n]/g, '_'),
  )

const complaints = (path: string, text: string): string[] => {
  const words = path.endsWith('.ts') ? text : ownWords(path, text)
  return patterns.flatMap(({ phrase, instead, pattern }) =>
    [...words.matchAll(pattern)].map(({ index }) => {
      const line = words.slice(0, index).split('\n').length
      return `${path}:${line}: not “${phrase}” but: ${instead}`
    }),
  )
}

void describe('the wording', () => {
  test('of docs, READMEs, messages and comments → none of the phrases in the list', () => {
    const inRooms = ROOMS.flatMap((room) =>
      readdirSync(new URL(room, ROOT), { recursive: true, encoding: 'utf8' }).map((path) => `${room}/${path}`),
    )
    const paths = [...readdirSync(ROOT), ...inRooms].filter(isRead)
    assert.ok(paths.length > 300, `${paths.length} files`)
    const found = paths.flatMap((path) => complaints(path, readFileSync(new URL(path, ROOT), 'utf8')))
    assert.deepEqual(found, [])
  })

  for (const [path, text, count] of [
    ['a.md', 'The lock is\nhad at once.', 1],
    ['a.ts', '/** Whoever\n * comes. A permit that is given\n * back. */', 2],
    ['a.md', 'It is shad. `it is had` is code, “it is had” is a quote.\n```\nis had\n```\n', 0],
    ['a.ts', 'this is told', 1],
    ['a.lua', '-- Marked `anew`, and given\n-- back.\nlocal anew = 1\n', 1],
  ] as const)
    test(`${JSON.stringify(text)} → ${count}`, () => {
      assert.equal(complaints(path, text).length, count)
    })
})
