import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { shellWord } from '#src/cli/text/shell-word.js'
import { spanOf } from '#src/cli/text/time-span.js'
import { tableOf } from '#src/cli/text/table.js'
import { cutTo, widthOf } from '#src/cli/text/width.js'
import { wrapped } from '#src/cli/text/wrap.js'
import { STRANGE_NAMES } from '../support/hostile.js'

void describe('text of the command line', () => {
  for (const [text, width] of [
    ['', 0],
    ['abc', 3],
    ['né', 2],
    ['ne\u0301', 2],
    ['日本語', 6],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['🔒a', 3],
    ['𝒳', 1],
    ['…', 1],
  ] as const)
    test(`${JSON.stringify(text)} takes ${width} columns`, () => assert.equal(widthOf(text), width))

  test('cut → never wider, and never half a sign', () => {
    assert.equal(cutTo('abcdef', 6), 'abcdef')
    assert.equal(cutTo('abcdef', 4), 'abc…')
    assert.equal(cutTo('日本語', 6), '日本語')
    assert.equal(cutTo('日本語', 5), '日本…')
    assert.equal(cutTo('日本語', 4), '日…')
    assert.equal(cutTo('ne\u0301xt', 3), 'ne\u0301…')
    assert.equal(cutTo('🔒🔒', 3), '🔒…')
    assert.equal(cutTo('abc', 0), '')
    for (let width = 0; width < 12; width++) assert.ok(widthOf(cutTo('a日b🔒c한d', width)) <= width)
  })

  test('a long text → lines that are no wider, also of wide signs', () => {
    assert.deepEqual(wrapped('ab cd ef', 5), ['ab cd', 'ef'])
    assert.deepEqual(wrapped('日本 日本 日本', 9), ['日本 日本', '日本'])
    assert.deepEqual(wrapped('日本 日本 日本', 8), ['日本', '日本', '日本'])
  })

  const COLUMNS = [
    { title: 'NAME', least: 6 },
    { title: 'AGE', right: true },
    { title: 'LABEL', least: 5 },
  ]

  test('a table → columns begin at one place, whatever the letters are', () => {
    const rows = [
      ['orders', '3s', 'web'],
      ['日本語', '12m05s', '-'],
    ]
    assert.deepEqual(tableOf(COLUMNS, rows, Infinity), [
      'NAME       AGE  LABEL',
      'orders      3s  web',
      '日本語  12m05s  -',
    ])
    assert.deepEqual(tableOf(COLUMNS, [], 80), ['NAME  AGE  LABEL'])
  })

  test('a narrow terminal → the widest columns are cut first, no line is wider', () => {
    const rows = [['n'.repeat(200), '3s', 'l'.repeat(30)]]
    for (const width of [1, 5, 20, 40, 60, 80, 200])
      for (const line of tableOf(COLUMNS, rows, width)) assert.ok(widthOf(line) <= width, line)
    assert.equal(tableOf(COLUMNS, rows, 60)[1], `${'n'.repeat(25)}…   3s  ${'l'.repeat(26)}…`)
    assert.equal(tableOf(COLUMNS, [['short', '3s', 'l'.repeat(90)]], 40)[1], `short   3s  ${'l'.repeat(27)}…`)
  })

  for (const [ms, text] of [
    [-5, '0ms'],
    [0, '0ms'],
    [999, '999ms'],
    [1000, '1s'],
    [59_999, '59s'],
    [60_000, '1m00s'],
    [3_599_000, '59m59s'],
    [3_600_000, '1h00m'],
    [86_399_000, '23h59m'],
    [86_400_000, '1d00h'],
    [864_000_000, '10d00h'],
  ] as const)
    test(`${ms} ms → ${text}`, () => assert.equal(spanOf(ms), text))

  test('a word for a shell → the shell reads that very word', { skip: process.platform === 'win32' }, () => {
    const names = [
      'plain',
      'a b',
      "it's",
      '$HOME `x` "y" \\ *',
      'ünï日',
      '-x',
      ...STRANGE_NAMES.filter((one) => one.length < 100),
    ]
    for (const name of names.filter((one) => !one.includes('\u0000'))) {
      const word = shellWord(name)
      for (const LC_ALL of ['C', 'C.UTF-8']) {
        const { stdout } = spawnSync('bash', ['-c', `printf %s ${word}`], { env: { ...process.env, LC_ALL } })
        assert.equal(stdout.toString(), name, word)
      }
    }
    assert.equal(shellWord('plain-1:x'), 'plain-1:x')
    assert.equal(shellWord('=ls'), "'=ls'")
  })
})
