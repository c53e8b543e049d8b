import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { lines } from '../mutants/lines.mjs'

const FOLDER = 'test/mutants'
const patches = readdirSync(FOLDER).filter((file) => file.endsWith('.patch'))
const skip = spawnSync('git', ['--version']).status === 0 ? false : 'git is not installed'

/** Those of the suites that have no file. */
const unknown = (suites: readonly string[]): string[] =>
  suites.filter((suite) => !existsSync(`test/${suite.replace(/#.*/, '')}.test.ts`))

void describe('the mutants', () => {
  void test('a patch → applies to today’s source', { skip }, () => {
    const refused = patches.flatMap((patch) => {
      const { status, stderr } = spawnSync('git', ['apply', '--check', `${FOLDER}/${patch}`], { encoding: 'utf8' })
      return status === 0 ? [] : [`${patch}: ${stderr}`]
    })
    assert.deepEqual(refused, [])
  })

  void test('a row → its line stands once in its file', () => {
    const astray = lines.filter(({ file, from }) => readFileSync(file, 'utf8').split(from).length !== 2)
    assert.deepEqual(astray, [])
  })

  void test('the suites that may notice → are there', () => {
    const ofPatches = patches.flatMap((patch) => {
      const [, suites = ''] = /^Suite: (.*)$/m.exec(readFileSync(`${FOLDER}/${patch}`, 'utf8')) ?? []
      return unknown(suites.split(' ').filter(Boolean))
    })
    assert.deepEqual([...ofPatches, ...unknown(lines.flatMap(({ suites }) => suites))], [])
  })

  void test('names → each only once', () => {
    const names = [...patches.map((patch) => patch.replace(/\.patch$/, '')), ...lines.map(({ name }) => name)]
    assert.deepEqual(
      names.filter((name, place) => names.indexOf(name) !== place),
      [],
    )
  })
})
