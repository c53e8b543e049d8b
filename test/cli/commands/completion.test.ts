import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { commands } from '#src/cli/commands/all-commands.js'
import { describedOf } from '#src/cli/completion/described-commands.js'
import { holdfast, linesOf } from './stage.js'

const all = await describedOf(commands)

const there = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0

const scriptOf = async (shell: string): Promise<string> => {
  const { code, out, error } = await holdfast(['completion', shell])
  assert.deepEqual([code, error], [0, ''])
  return out
}

/** What bash offers for the last of these words. */
const offered = (script: string, words: readonly string[]): string[] => {
  const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`
  const { stdout, stderr } = spawnSync(
    'bash',
    ['-c', `${script}\n${set}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(stderr, '')
  return linesOf(stdout)
}

void describe('help and completion', () => {
  test('holdfast help → each command, in 80 columns; help COMMAND is COMMAND --help', async () => {
    const { code, out } = await holdfast(['help'])
    assert.equal(code, 0)
    for (const { name, summary } of commands) assert.ok(out.includes(`  ${name}`) && out.includes(summary), name)
    assert.equal((await holdfast(['--help'])).out, out)
    for (const { name } of commands) {
      const [one, other] = [await holdfast(['help', name]), await holdfast([name, '--help'])]
      assert.deepEqual([one.code, one.error, one.out], [0, '', other.out])
      assert.match(one.out, new RegExp(`^Usage: holdfast ${name}\\b`))
      for (const line of [...linesOf(one.out), ...linesOf(out)]) assert.ok(line.length <= 80, line)
    }
    assert.equal((await holdfast(['help', 'nosuch'])).code, 64)
    assert.equal((await holdfast(['help', 'run', 'ls'])).code, 64)
  })

  test('every option is in the help of its command, and on the page about it', async () => {
    const page = readFileSync(new URL('../../../../docs/command-line.md', import.meta.url), 'utf8')
    for (const {
      name,
      page: { options },
    } of all) {
      const { out } = await holdfast(['help', name])
      for (const option of Object.keys(options)) {
        assert.ok(out.includes(`--${option}`), `${name} --${option}`)
        if (!['demo', 'config'].includes(name)) assert.ok(page.includes(`--${option}`), `${name} --${option}`)
      }
    }
  })

  test('bash → commands, options, and the values of an option', { skip: !there('bash') && 'no bash' }, async () => {
    const script = await scriptOf('bash')
    assert.deepEqual(offered(script, ['holdfast', 'l']), ['ls'])
    assert.deepEqual(offered(script, ['holdfast', 'help', 'un']), ['unlock'])
    assert.deepEqual(offered(script, ['holdfast', 'completion', '']).slice(0, 3), ['bash', 'zsh', 'fish'])
    assert.deepEqual(offered(script, ['holdfast', 'unlock', 'name', '--o']), ['--owner'])
    assert.deepEqual(offered(script, ['holdfast', 'run', 'name', '--on-lost', '']), ['term', 'kill', 'ignore'])
    assert.deepEqual(offered(script, ['holdfast', 'ls', '--kind', 'fai']), ['fairLock', 'fairReadWriteLock'])
    assert.deepEqual(offered(script, ['holdfast', 'ls', '--config', '']), [], 'readline completes paths')
    assert.deepEqual(offered(script, ['holdfast', 'run', 'name', '-w', '']), [])
    assert.deepEqual(offered(script, ['holdfast', 'run', 'name', '--', 'prin']).includes('printf'), true)
    for (const {
      name,
      page: { options },
    } of all) {
      const words = offered(script, ['holdfast', name, '-'])
      for (const option of [...Object.keys(options), 'help'])
        assert.ok(words.includes(`--${option}`), `${name} ${option}`)
    }
  })

  for (const shell of ['zsh', 'fish'])
    test(`${shell} → knows every command and option, and is valid`, async (t) => {
      const script = await scriptOf(shell)
      for (const {
        name,
        page: { options },
      } of all) {
        assert.ok(script.includes(name))
        for (const option of Object.keys(options))
          assert.ok(script.includes(shell === 'fish' ? `-l ${option}` : `--${option}`), `${name} ${option}`)
      }
      if (!there(shell)) {
        t.skip(`no ${shell}`)
        return
      }
      const file = join(mkdtempSync(join(tmpdir(), 'holdfast-completion-')), 'script')
      writeFileSync(file, script)
      const { status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
      assert.deepEqual([status, stderr], [0, ''])
    })

  test('another shell → 64 and the usage', async () => {
    for (const args of [[], ['tcsh'], ['bash', 'zsh']]) {
      const { code, error } = await holdfast(['completion', ...args])
      assert.equal(code, 64)
      assert.match(error, /needs the name of one shell: bash, zsh, fish[^]*Usage: holdfast completion bash\|zsh\|fish/)
    }
  })
})
