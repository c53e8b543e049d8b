import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { widthOf } from '#src/cli/text/width.js'
import { admit, READER_LINE } from '../../support/acl.js'
import { HIDDEN } from '../../support/hostile.js'
import { freePort } from '../../support/redis-server.js'
import { onServer } from '../../support/server.js'
import { until } from '../../support/until.js'
import { holdfast, linesOf, MAIN, TERMINAL } from './stage.js'

/** `holdfast watch`, as a process that runs until a signal ends it. */
const watching = (url: string, args: readonly string[], columns?: number) => {
  const call = [process.execPath, MAIN, 'watch', ...args]
  const quoted = call.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  const [program = '', ...rest] =
    columns === undefined ? call : ['script', '-qefc', `stty cols ${columns} rows 24; exec ${quoted}`, '/dev/null']
  const child = spawn(program, rest, {
    env: { ...process.env, HOLDFAST_URL: url, REDIS_URL: '', TERM: 'xterm-256color', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [out, error] = ['', '']
  child.stdout.on('data', (data: Buffer) => void (out += data.toString()))
  child.stderr.on('data', (data: Buffer) => void (error += data.toString()))
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  return {
    child,
    lines: () => linesOf(out),
    events: () => linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>),
    said: () => error,
    type: (text: string) => void child.stdin.write(text),
    ended: async () => (await ended)[0],
  }
}

void describe('holdfast watch', () => {
  onServer('in a pipe → one JSON a line, with all fields; SIGINT → 130', async ({ open, server, after }) => {
    const [one, two] = [await open({ label: 'web-1' }), await open({ label: 'web-2' })]
    const hold = await one.lock('a').acquire()
    const watch = watching(server.url, ['a'])
    after(() => watch.child.kill('SIGKILL'))
    await until(() => watch.events().length === 1)
    const next = two.lock('a').acquire()
    await until(() => watch.events().length === 2)
    await sleep(2500)
    await hold.release()
    const second = await next
    await until(() => watch.events().length === 4)
    await one.lock('a').forceRelease()
    await until(() => watch.events().length === 5)
    watch.child.kill('SIGINT')
    assert.deepEqual([await watch.ended(), watch.said()], [130, ''])
    assert.equal(second.state, 'held')
    const events = watch.events()
    for (const event of events)
      assert.deepEqual(
        Object.keys(event).join(),
        'at,type,name,key,kind,owner,client,label,mode,keys,since,within,certain,initial,merged,by',
      )
    assert.deepEqual(
      events.map(({ type, label, initial, by }) => [type, label, initial, by]),
      [
        ['granted', 'web-1', true, null],
        ['waiting', 'web-2', false, null],
        ['released', 'web-1', false, null],
        ['granted', 'web-2', false, null],
        ['forced', 'web-2', false, one.id],
      ],
    )
    assert.ok(Math.abs(Number(events[4]?.['at']) - Date.now()) < 20_000)
  })

  onServer('unlock → forced; --since-start leaves out what was there; each signal has its code', async (broken) => {
    const client = await broken.open({ label: 'web-1' })
    const { url } = broken.server
    for (const [name, signal, code] of [
      ['a', 'SIGTERM', 143],
      ['b', 'SIGHUP', 129],
    ] as const) {
      await client.lock(name).acquire()
      const all = watching(url, [name])
      const later = watching(url, [name, '--since-start', '--json', '--kind', 'lock'])
      broken.after(() => [all, later].map(({ child }) => child.kill('SIGKILL')))
      await until(() => all.events().length === 1)
      await sleep(500)
      assert.equal((await holdfast(['unlock', name, '--force', '--yes'], { url })).code, 0)
      await until(() => later.events().length === 1 && all.events().length === 2)
      for (const { child } of [all, later]) child.kill(signal)
      assert.deepEqual([await all.ended(), await later.ended()], [code, code])
      assert.deepEqual([later.events()[0]?.['type'], later.events()[0]?.['certain']], ['forced', true])
    }
  })

  if (TERMINAL)
    onServer('in a terminal → one readable line for each event, no wider than it; Ctrl-C → 130', async (broken) => {
      const label = `evil\u001b[2J\nweb-9\u202e`
      const [one, two] = [await broken.open({ label }), await broken.open({ label: 'web-2' })]
      const names = ['w:日本語の鍵', `w:${'x'.repeat(300)}`, 'w:\u001b[31m\n\u202e']
      for (const name of names) await one.lock(name).acquire()
      const book = await two.readWriteLock('w:book').read.acquire()
      await two.keyedLock('w:group', ['k1', 'k2']).acquire()
      await sleep(2500)
      const watch = watching(broken.server.url, ['w:*'], 80)
      broken.after(() => watch.child.kill('SIGKILL'))
      await until(() => watch.lines().length >= 6)
      await book.release()
      await until(() => watch.lines().length >= 7)
      watch.type('\u0003')
      assert.equal(await watch.ended(), 130)
      const [hint = '', ...lines] = watch.lines().filter((line) => line !== '^C')
      assert.match(hint, /^holdfast: watching; Ctrl-C ends it$/)
      assert.equal(lines.length, 6, lines.join('\n'))
      for (const line of lines) {
        assert.doesNotMatch(line, HIDDEN)
        assert.ok(widthOf(line) <= 80, line)
        assert.match(line, /^\d\d:\d\d:\d\d\.\d{3} {2}(granted {3}|released {2})w:/)
      }
      assert.ok(lines.some((line) => /granted {3}w:book {2}web-2, reads, for \ds$/.test(line)))
      assert.ok(lines.some((line) => /granted {3}w:group {2}web-2, keys k1, k2, for \ds$/.test(line)))
      assert.match(lines.at(-1) ?? '', /released {2}w:book {2}web-2, reads, after \ds$/)
    })

  if (TERMINAL)
    onServer('in a terminal, many holders at first → 20 lines, and how many more', async ({ open, server, after }) => {
      const client = await open({ label: 'web-1' })
      for (let i = 0; i < 50; i++) await client.lock(`n:${i}`).acquire()
      await sleep(2500)
      const watch = watching(server.url, [], 80)
      after(() => watch.child.kill('SIGKILL'))
      await until(() => watch.lines().some((line) => line.startsWith('holdfast: and 30 more that held or waited')))
      assert.equal(watch.lines().filter((line) => line.includes('granted')).length, 20)
      await client.lock('n:49').forceRelease()
      await until(() => watch.lines().some((line) => line.includes(' forced ')))
      watch.type('\u0003')
      assert.equal(await watch.ended(), 130)
    })

  onServer('--text in a pipe → readable lines', async ({ open, server, after }) => {
    await (await open({ label: 'web-1' })).lock('a').acquire()
    const watch = watching(server.url, ['a', '--text'])
    after(() => watch.child.kill('SIGKILL'))
    await until(() => watch.lines().length === 1)
    watch.child.kill('SIGINT')
    assert.equal(await watch.ended(), 130)
    assert.match(watch.lines()[0] ?? '', /^\d\d:\d\d:\d\d\.\d{3} {2}granted {3}a {2}(web-1|client \S+)/)
  })

  if (TERMINAL)
    onServer('a waiter that holds the lock between two looks → left the line, not gave up', async (broken) => {
      const [one, two] = [await broken.open({ label: 'web-1' }), await broken.open({ label: 'web-2' })]
      const watch = watching(broken.server.url, ['w:*'], 80)
      broken.after(() => watch.child.kill('SIGKILL'))
      const seen = (text: string): number => watch.lines().filter((line) => line.includes(text)).length
      // A look may fall into the moment when it holds the lock: then it comes again.
      for (let round = 1; round <= 6 && seen('  left  ') === 0; round++) {
        const hold = await one.lock('w:a').acquire()
        const next = two.lock('w:a').acquire()
        await until(() => seen('waiting') >= round)
        await hold.release()
        await (await next).release()
        await until(() => seen('web-2, after') >= round)
      }
      watch.type('\u0003')
      assert.equal(await watch.ended(), 130)
      const out = watch.lines().join('\n')
      assert.match(out, / {2}left {6}w:a {2}web-2, after \d+s, left the line \(perhaps granted\)$/m)
      assert.doesNotMatch(out, /gave up/)
    })

  onServer('a user who only looks → is enough', async ({ open, redis, server, after }) => {
    const hold = await (await open({ label: 'web-1' })).lock('a').acquire()
    const url = `redis://${await admit(redis, READER_LINE, 'secret-of-a-test')}@127.0.0.1:${server.port}`
    const watch = watching(url, ['a'])
    after(() => watch.child.kill('SIGKILL'))
    await until(() => watch.events().length === 1)
    await hold.release()
    await until(() => watch.events().length === 2)
    watch.child.kill('SIGINT')
    assert.deepEqual([await watch.ended(), watch.said()], [130, ''])
  })

  onServer('the reader of the pipe leaves → it ends without an error', async ({ open, server }) => {
    const client = await open()
    for (let i = 0; i < 300; i++) await client.lock(`lock:${i}:${'x'.repeat(500)}`).acquire()
    await sleep(2500)
    const line = `"$0" "$1" watch | head -1 | cut -c1-6; echo "\${PIPESTATUS[0]}"`
    const env = { ...process.env, HOLDFAST_URL: server.url }
    const out = execFileSync('bash', ['-c', line, process.execPath, MAIN], { env, encoding: 'utf8', timeout: 30_000 })
    assert.match(out, /^\{"at":\n0\n$/)
  })

  test('what is wrong → 64 and the usage; no server → 69', { timeout: 60_000 }, async () => {
    const url = `redis://127.0.0.1:${await freePort()}`
    for (const [args, says] of [
      [['a', 'b'], /one name or pattern/],
      [[''], /name must not be empty/],
      [['--kind', 'mutex'], /--kind must be one of lock,/],
      [['--json', '--text'], /exclude each other/],
      [['--url', 'memory:'], /must name a server/],
    ] as const) {
      const { code, out, error } = await holdfast(['watch', ...args], { url })
      assert.deepEqual([code, out], [64, ''], `${args.join(' ')}: ${error}`)
      assert.match(error, says)
      assert.match(error, /\n\nUsage: holdfast watch \[NAME\|PATTERN\]/)
    }
    const { code, error } = await holdfast(['watch'], { url })
    assert.equal(code, 69)
    assert.match(error, /^holdfast: [^\n]+\n$/)
  })
})
