import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { commands } from '#src/cli/commands/all-commands.js'
import { describedOf, optionsOf } from '#src/cli/completion/described-commands.js'
import { MAN, manPage } from '../../scripts/build-man.mjs'

const described = await describedOf(commands)
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { man: string; files: string[]; version: string }

/** Without the marks of bold and underlined, and with single blanks; a hyphenated word is whole again. */
const words = (text: string): string =>
  text
    .replaceAll(/.[\b]/g, '')
    .replaceAll(/‐\n\s*/g, '')
    .replaceAll(/\s+/g, ' ')

/** What everybody reads who types `man holdfast`. Undefined: the program is not there. */
const rendered = (program: string, ...args: string[]): string | undefined => {
  const env = { ...process.env, MANWIDTH: '80', LC_ALL: 'C.UTF-8', MAN_KEEP_FORMATTING: '' }
  const { stdout, stderr, status, error } = spawnSync(program, args, { encoding: 'utf8', env })
  if (error !== undefined) return undefined
  assert.deepEqual([status, stderr], [0, ''])
  return words(stdout)
}

void describe('man/holdfast.1', () => {
  test('is in the package, and is that of this build', async () => {
    assert.equal(manifest.man, `./${MAN}`)
    assert.ok(manifest.files.includes('man'))
    assert.equal(readFileSync(MAN, 'utf8'), await manPage(process.cwd()))
  })

  for (const call of [
    ['man', '--warnings', '-l', MAN],
    ['groff', '-man', '-Tutf8', '-ww', '-P-c', MAN],
  ])
    test(`by ${call[0]} → each command, option and example, and no warning`, (t) => {
      const [program = '', ...args] = call
      const text = rendered(program, ...args)
      if (text === undefined) {
        t.skip(`no ${program}`)
        return
      }
      assert.ok(text.includes(`holdfast ${manifest.version}`))
      for (const one of described) {
        const { name, summary, page } = one
        for (const part of [
          `${name} ${summary}`,
          ...page.usage.map((form) => `holdfast ${form}`),
          page.about,
          page.more,
        ])
          assert.ok(text.includes(words(part).trim()), `${name}: ${part}`)
        for (const [option, { short, value, help }] of optionsOf(one)) {
          const flags = `${short === undefined ? '' : `-${short}, `}--${option}${value === undefined ? '' : ` ${value}`}`
          assert.ok(text.includes(words(`${flags} ${help}`)), `${name} ${flags}`)
        }
      }
    })

  test('what roff would act on is escaped', () => {
    const text = readFileSync(MAN, 'utf8')
    assert.doesNotMatch(text, /[^\n -~]/)
    const requests = [...text.matchAll(/^[.'](\S*)/gm)].map(([, name]) => name)
    assert.deepEqual([...new Set(requests)].sort(), ['PP', 'SH', 'SS', 'TH', 'TP', 'br', 'fi', 'nf'])
  })
})
