import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { systemClock } from '#src/base/clock.js'
import { commandNames, findCommand } from '#src/engine/memory/commands/index.js'
import { unsupportedGroups } from '#src/engine/memory/commands/unsupported.js'
import { ReplyError } from '#src/engine/memory/reply.js'
import { MemoryServer } from '#src/engine/memory/server.js'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/memory.md'), 'utf8')

/** The names in backticks between two headings. */
const listed = (heading: string): string[] => {
  const [, part = ''] = page.split(`\n## ${heading}\n`)
  const list = part.split('\n## ')[0] ?? ''
  return [...list.matchAll(/`([a-z_ -]+)`/g)].map(([, name = '']) => name)
}

const shown = (name: string): string => name.replace('|', ' ')

const supported = (): string[] =>
  commandNames().flatMap((name) => {
    const inner = findCommand(name)?.subcommands
    return inner === undefined ? [name] : [...inner.keys()].sort().map((second) => `${name} ${second}`)
  })

describe('docs/memory.md', () => {
  it('lists every command of memory:, and no other', () => {
    assert.deepEqual(listed('Commands'), supported())
  })

  it('lists what Redis has and memory: has not', () => {
    assert.deepEqual(listed('What is missing'), [...unsupportedGroups.values()].flat().map(shown))
  })

  it('what is missing is refused by name, and not as an unknown command', () => {
    const server = new MemoryServer(systemClock)
    for (const name of [...unsupportedGroups.values()].flat()) {
      const reply = server.execute([...name.split('|'), 'x', 'y'])
      assert.ok(reply instanceof ReplyError)
      assert.equal(reply.message, `ERR memory: does not support the command '${name}', which Redis has`)
    }
    const inScript = server.execute(['EVAL', "return redis.pcall('XADD', 's', '*', 'f', 'v')", '0'])
    assert.ok(inScript instanceof ReplyError)
    assert.match(inScript.message, /^ERR memory: does not support the command 'xadd'/)
    const resp3 = server.execute(['EVAL', 'redis.setresp(3)', '0'])
    assert.ok(resp3 instanceof ReplyError)
    assert.match(resp3.message, /memory: does not support 'redis.setresp\(3\)'/)
    const unknown = server.execute(['NONSENSE'])
    assert.ok(unknown instanceof ReplyError)
    assert.match(unknown.message, /unknown command 'NONSENSE'/)
    server.close()
  })
})
