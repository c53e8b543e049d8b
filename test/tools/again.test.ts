import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-again-'))
after(() => {
  rmSync(folder, { recursive: true })
})

const besideOf = (name: string): string => join(folder, `${name}.beside`)

/** A test file that fails so many times, and so. */
const failing = (name: string, times: number, message: string): string => {
  const file = join(folder, `${name}.test.mjs`)
  const runs = JSON.stringify(join(folder, `${name}.runs`))
  writeFileSync(
    file,
    `import { appendFileSync, statSync } from 'node:fs'
     import { describe, test } from 'node:test'
     test('beside it', () => appendFileSync(${JSON.stringify(besideOf(name))}, '.'))
     describe('of several', () => test('a test (of two)', () => {
       appendFileSync(${runs}, '.')
       if (statSync(${runs}).size <= ${times}) throw new Error('${message}')
     }))`,
  )
  return file
}

const outcome = (files: readonly string[], again: string): { passed: number; failed: number; output: string } => {
  const runner = pathToFileURL(resolve('scripts/test/node-tests.mjs')).href
  const program = join(folder, 'run.mjs')
  writeFileSync(
    program,
    `import { runTests } from '${runner}'
     const { passed, failed } = await runTests(${JSON.stringify(files)})
     console.log(JSON.stringify({ passed, failed }))`,
  )
  // Node's runner refuses to begin in one of its own tests.
  const env = { ...process.env, HOLDFAST_TEST_AGAIN: again, NODE_TEST_CONTEXT: undefined }
  const { stdout } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' })
  const last = stdout.trim().split('\n').at(-1) ?? ''
  return { ...(JSON.parse(last) as { passed: number; failed: number }), output: stdout }
}

void describe('a test that failed', () => {
  test('where it passes alone, three times → passed, and told as unsteady', () => {
    const { passed, failed, output } = outcome([failing('once', 1, 'too late')], '1')
    assert.deepEqual([passed, failed], [2, 0])
    assert.equal(readFileSync(besideOf('once'), 'utf8'), '..', 'not by itself, but at last with the rest of its file')
    assert.match(output, /^⚠ UNSTEADY, a bug to be found: .*once\.test\.m?ts: of several › a test \(of two\)$/m)
  })

  test('one whose name has a drawn seed → again with that seed', () => {
    const file = join(folder, 'seeded.test.mjs')
    const runs = JSON.stringify(join(folder, 'seeded.runs'))
    writeFileSync(
      file,
      `import { appendFileSync, readFileSync } from 'node:fs'
       import { test } from 'node:test'
       const seed = Number(process.env['HOLDFAST_SEED'] ?? Math.floor(Math.random() * 1e9))
       test('programs (seed ' + seed + ') → right', () => {
         appendFileSync(${runs}, seed + ';')
         if (readFileSync(${runs}, 'utf8').split(';').length === 2) throw new Error('too late')
       })`,
    )
    const { passed, failed } = outcome([file], '1')
    assert.deepEqual([passed, failed], [1, 0])
    const seeds = readFileSync(join(folder, 'seeded.runs'), 'utf8').split(';').slice(0, -1)
    assert.deepEqual([seeds.length, new Set(seeds).size], [4, 1])
  })

  test('where it fails again, or nobody asked to look again → failed', () => {
    assert.equal(outcome([failing('twice', 3, 'too late')], '1').failed, 1)
    assert.equal(outcome([failing('strict', 1, 'too late')], '').failed, 1)
  })

  test('of what must not happen even once, or with too many others → failed', () => {
    assert.equal(outcome([failing('grave', 1, 'two inside')], '1').failed, 1)
    const files = [1, 2, 3].map((one) => failing(`many${one}`, 1, 'too late'))
    assert.equal(outcome(files, '1').failed, 3)
  })
})
