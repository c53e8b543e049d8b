import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { onServer } from '../../support/server.js'
import { HEARS, LINUX, nothingLeft, type Run, runs, WORKS } from './stage.js'

/** The script(1) of util-linux makes a terminal. */
const THERE = LINUX && (spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '').includes('util-linux')

const type = (run: Run, text: string): void => void run.child.stdin?.write(text)

/** Lines end with CR LF there. */
const lines = (text: string): string[] => text.split(/\r?\n/)

const inTerminal = { terminal: true, stdin: 'pipe' } as const

void describe('holdfast run: in a terminal', () => {
  if (!THERE) {
    test('needs the script(1) of util-linux', { skip: 'not there' }, () => undefined)
    return
  }

  onServer('the command reads from the terminal, and knows that it is one', async (broken) => {
    const run = runs(broken)(
      ['l', '--', 'sh', '-c', 'test -t 0 && echo ready; read -r line; echo "got <$line>"; exit 5'],
      inTerminal,
    )
    await run.said('ready')
    type(run, 'hello\n')
    const { code, out } = await run.ended
    assert.equal(code, 5)
    assert.ok(lines(out).includes('got <hello>'), out)
    assert.equal(await broken.redis.exists('l'), 0)
  })

  onServer('Ctrl-C → the command gets it, once', async (broken) => {
    const run = runs(broken)(['l', '--', ...HEARS()], inTerminal)
    await run.said('ready')
    type(run, '\u0003')
    await run.said('heard SIGINT')
    type(run, '\u0003')
    await broken.until(() => run.out.split('heard SIGINT').length === 3)
    process.kill(run.inner(), 'SIGTERM')
    const { code, out } = await run.ended
    assert.equal(code, 7)
    assert.equal(out.split('heard SIGINT').length, 3)
    assert.equal(out.split('heard SIGTERM').length, 2)
  })

  onServer('Ctrl-C to a command that does not handle it → 130, and the lock is free', async (broken) => {
    const run = runs(broken)(['l', '--', ...WORKS], inTerminal)
    await run.said('ready')
    const family = run.family()
    type(run, '\u0003')
    await run.ended
    await nothingLeft(run, family)
    assert.equal(await broken.redis.exists('l'), 0)
  })

  onServer('Ctrl-C while waiting → given up', async (broken) => {
    const client = await broken.open()
    await client.lock('l').acquire()
    const run = runs(broken)(['l', '--', 'echo', 'started'], inTerminal)
    await broken.until(async () => (await client.lock('l').inspect()).waiting.length === 1)
    type(run, '\u0003')
    assert.ok(!(await run.ended).out.includes('started'))
    await nothingLeft(run)
  })

  onServer('the lock is lost → the command and what it started are ended, and nothing around it', async (broken) => {
    const nested = 'sh -c "while :; do sleep 0.1; done" & echo ready; wait'
    const run = runs(broken)(['l', '--lease', '3s', '--', 'sh', '-c', nested], inTerminal)
    await run.said('ready')
    const family = run.family()
    await (await broken.open()).lock('l').forceRelease()
    const { code, out } = await run.ended
    assert.equal(code, 79, out)
    await nothingLeft(run, family)
  })

  onServer('SIGKILL of holdfast run → the command and what it started are ended', async (broken) => {
    const nested = 'sh -c "while :; do sleep 0.1; done" & echo ready; wait'
    const run = runs(broken)(['l', '--lease', '3s', '--', 'sh', '-c', nested], inTerminal)
    await run.said('ready')
    const family = run.family()
    process.kill(run.inner(), 'SIGKILL')
    await nothingLeft(run, family)
  })
})
