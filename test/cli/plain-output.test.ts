import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect } from 'holdfast'
import { HIDDEN } from '../support/hostile.js'
import { onServer } from '../support/server.js'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
/** A path of a file, as somebody else may choose it. */
const STRANGE = 'a\nforged: line\u001b[2J\u009b31m\u202eb\u2028.yml'

const said = async (...args: string[]): Promise<readonly string[]> => {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return `${out}${error}`.split('\n')
}

const fileAt = (name: string, content: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'holdfast-')), name)
  writeFileSync(path, content)
  return path
}

const isPlain = (line: string): void => {
  assert.doesNotMatch(line, HIDDEN)
  assert.doesNotMatch(line, /^forged/)
  assert.ok(line.length < 6100)
}

void describe('what comes from others', () => {
  test('a strange path, user or class in a file → each line of the command line is plain', async () => {
    const content =
      'singleServerConfig: {address: "redis://far.example:1", username: "bob\\e[2J\\u202e"}\nthreads: 16\n'
    const file = fileAt(STRANGE, `${content}nameMapper: !<com.example.%1b%5b2J> {}\n`)
    const calls = [
      ['config', 'check', file],
      ['config', 'check', file, '--json'],
      ['config', 'check', `${file}.gone`],
      ['config', 'check', fileAt(STRANGE, 'a: [\n')],
      ['config', 'check', fileAt(STRANGE, '')],
      ['config', 'check', file, `--${STRANGE}`],
      [STRANGE],
      ['help', STRANGE],
      ['completion', STRANGE],
      ['ls', '--kind', STRANGE],
      ['ls', '-o', STRANGE],
      ['show', 'a', STRANGE],
      ['show', STRANGE, '--url', 'redis://127.0.0.1:1'],
      ['unlock', 'a', STRANGE],
      ['unlock', STRANGE, '--url', `redis://${STRANGE}:1`, '--owner', STRANGE],
      ['demo', '--seconds', STRANGE],
      ['demo', '--url', `redis://${STRANGE}:1`],
    ]
    for (const call of calls) {
      const lines = await said(...call)
      assert.ok(lines.length > 1)
      lines.forEach(isPlain)
    }
  })

  onServer(
    'a strange path of a file → a warning of the client is plain, in the log, too',
    async ({ server, after }) => {
      const lines: string[] = []
      const log = (line: string): void => void lines.push(line)
      const file = fileAt(STRANGE, `singleServerConfig: {address: "${server.url}"}\nthreads: 16\n`)
      const client = await connect({ file, logger: { debug: log, info: log, warn: log, error: log } })
      after(() => client.close())
      assert.ok(client.warnings.some((warning) => warning.includes('threads is not used')))
      for (const line of [...client.warnings, ...lines]) isPlain(line)
    },
  )
})
