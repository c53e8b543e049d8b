import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { onServer } from '../../support/server.js'
import { freePort } from '../../support/redis-server.js'
import { Run, runs } from './stage.js'

const here = (name: string, content: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'holdfast-run-')), name)
  writeFileSync(path, content)
  return path
}

void describe('holdfast run: exit codes, as real processes', () => {
  onServer('the command’s own, from 0 to 255', async (broken) => {
    const start = runs(broken)
    const codes = [0, 1, 2, 63, 64, 70, 75, 79, 125, 126, 127, 128, 130, 143, 254, 255]
    for (let at = 0; at < codes.length; at += 4) {
      const some = codes.slice(at, at + 4)
      const ended = await Promise.all(some.map((code) => start([`l${code}`, '--', 'sh', '-c', `exit ${code}`]).ended))
      assert.deepEqual(
        ended.map(({ code }) => code),
        some,
      )
      assert.deepEqual(new Set(ended.map(({ error }) => error)), new Set(['']))
    }
    assert.deepEqual(await broken.redis.exists(...codes.map((code) => `l${code}`)), 0)
  })

  onServer('a signal that ended the command → 128 + N', async (broken) => {
    const start = runs(broken)
    const numbers = { HUP: 1, INT: 2, QUIT: 3, KILL: 9, USR1: 10, TERM: 15 }
    for (const [name, number] of Object.entries(numbers)) {
      // Only Linux numbers SIGUSR1 so.
      if (process.platform !== 'linux' && name === 'USR1') continue
      const { code } = await start(['l', '--', 'sh', '-c', `kill -${name} $$; sleep 5`]).ended
      assert.equal(code, 128 + number, name)
    }
  })

  onServer('no such command → 127; one that is no program → 126; nothing stays locked', async (broken) => {
    const start = runs(broken)
    const missing = await start(['l', '--', 'holdfast-no-such-command']).ended
    assert.equal(missing.code, 127)
    assert.match(missing.error, /holdfast-no-such-command/)
    const file = here('data', 'no program\n')
    chmodSync(file, 0o644)
    assert.equal((await start(['l', '--', file]).ended).code, 126)
    assert.equal((await start(['l', '--', '/']).ended).code, 126)
    assert.equal(await broken.redis.exists('l'), 0)
  })

  onServer(
    'the lock is held → 75 after --wait, at once with -n, or what -E says; nothing was started',
    async (broken) => {
      const start = runs(broken)
      const client = await broken.open()
      await client.lock('l').acquire()
      const waited = await start(['l', '-w', '700ms', '--', 'echo', 'started']).ended
      assert.equal(waited.code, 75)
      assert.ok(waited.ms >= 700)
      assert.match(waited.error, /^holdfast: could not acquire 'l' within 700 ms\n$/)
      const others = await Promise.all([
        start(['l', '-n', '--', 'echo', 'started']).ended,
        start(['l', '-n', '-E', '0', '--', 'echo', 'started']).ended,
        start(['l', '-n', '-E', '33', '--', 'echo', 'started']).ended,
      ])
      assert.deepEqual(
        others.map(({ code }) => code),
        [75, 0, 33],
      )
      for (const { out } of [waited, ...others]) assert.equal(out, '')
    },
  )

  test('wrong usage → 64, and the usage on stderr', { timeout: 60_000 }, async () => {
    for (const args of [[], ['l'], ['l', '--'], ['l', '--bogus', '--', 'c'], ['l', '-w', '10', '--', 'c']]) {
      const { code, out, error } = await new Run(args, { url: 'redis://127.0.0.1:1' }).ended
      assert.deepEqual([code, out], [64, ''], args.join(' '))
      assert.match(error, /^holdfast: .+\n\nUsage: holdfast run NAME/)
    }
  })

  test('--help → help on stdout, 0', async () => {
    const { code, out, error } = await new Run(['--help'], {}).ended
    assert.deepEqual([code, error], [0, ''])
    for (const line of out.split('\n')) assert.ok(line.length <= 80, line)
    assert.match(out, /Examples:/)
    const page = readFileSync(new URL('../../../../docs/command-line.md', import.meta.url), 'utf8')
    for (const [option] of out.matchAll(/--[a-z][a-z-]*/g)) {
      if (option !== '--help') assert.ok(page.includes(`\`${option}`) || page.includes(`, \`${option}`), option)
    }
  })

  test('no server → 69; no URL → 78; a URL or a file that cannot be used → 78', { timeout: 60_000 }, async () => {
    const url = `redis://127.0.0.1:${await freePort()}`
    const command = ['l', '--', 'echo', 'started']
    const calls: readonly (readonly [run: Run, code: number])[] = [
      [new Run(command, { url }), 69],
      [new Run(command, { url: '', env: { REDIS_URL: '' } }), 78],
      [new Run(command, { url: 'http://h' }), 78],
      [new Run(['l', '--config', '/nowhere.yml', '--', 'echo', 'started'], {}), 78],
    ]
    for (const [run, expected] of calls) {
      const { code, out, error } = await run.ended
      assert.deepEqual([code, out], [expected, ''], error)
      assert.match(error, /^holdfast: [^\n]+\n$/)
    }
  })

  onServer('a user who may not → 77; a key of another kind → 78; a wrong name → 64', async (broken) => {
    const start = runs(broken)
    const { redis, server } = broken
    await redis.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '&*', '+@read', '+@connection', '+info')
    const url = server.url.replace('redis://', 'redis://reader:secret@')
    const refused = await start(['l', '-n', '--', 'echo', 'started'], { url }).ended
    assert.equal(refused.code, 77, refused.error)
    const wrong = await start(['l', '-n', '--', 'true'], { url: url.replace('secret', 'guess') }).ended
    assert.equal(wrong.code, 77, wrong.error)
    for (const { error, out } of [refused, wrong]) {
      assert.equal(out, '')
      assert.doesNotMatch(error, /secret|guess/)
    }
    await redis.set('text', 'x')
    assert.equal((await start(['text', '-n', '--', 'true']).ended).code, 78)
    assert.equal((await start(['l'.repeat(70_000), '-n', '--', 'true']).ended).code, 64)
    assert.equal((await start(['--kind', 'multi', 'a', 'a', '--', 'true']).ended).code, 64)
  })
})
