import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { admit, READER_LINE } from '../../support/acl.js'
import { type Broken, onServer } from '../../support/server.js'
import { until } from '../../support/until.js'
import { holdfast, MAIN, TERMINAL } from '../commands/stage.js'

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

interface Live {
  /** Everything that came since the last call. */
  fresh(): string
  kill(signal: NodeJS.Signals): void
  /** Waits until this comes. */
  shows(text: string | RegExp): Promise<void>
  type(text: string): void
  readonly ended: Promise<number | null>
}

/** `holdfast top` in a terminal of 80 x 24. */
const started = ({ server, after, until }: Broken, args: readonly string[] = [], url = server.url): Live => {
  const call = [process.execPath, MAIN, 'top', '--interval', '200ms', ...args].map(quote).join(' ')
  const told = `sh -c 'echo "pid $$ "; exec "$@"' sh ${call}`
  const line = `stty cols 80 rows 24; ${told}; code=$?; stty -a | grep -o -- '-*icanon'; exit $code`
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { ...process.env, HOLDFAST_URL: url, REDIS_URL: '', TERM: 'xterm-256color', SHELL: '/bin/sh', NO_COLOR: '1' },
  })
  after(() => child.kill('SIGKILL'))
  let out = ''
  let from = 0
  child.stdout.setEncoding('utf8').on('data', (data: string) => (out += data))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    fresh: () => out.slice(from, (from = out.length)),
    kill: (signal) => void process.kill(Number(/pid (\d+) /.exec(out)?.[1]), signal),
    async shows(text) {
      await until(() => {
        const seen = out.slice(from)
        return typeof text === 'string' ? seen.includes(text) : text.test(seen)
      }, 30_000).catch(() => assert.fail(`no ${String(text)} in ${JSON.stringify(out.slice(from))}`))
      from = out.length
    },
    type: (text) => void child.stdin.write(text),
    ended,
  }
}

void describe('holdfast top', () => {
  for (const [why, args, env] of [
    ['no terminal', [], {}],
    ['an unknown order', ['--sort', 'SIZE'], {}],
    ['an interval that is too short', ['--interval', '10ms'], {}],
    ['two patterns', ['a', 'b'], {}],
  ] as const) {
    void test(`wrong usage: ${why} → 64`, async () => {
      const { code, error } = await holdfast(['top', ...args], { url: 'redis://127.0.0.1:1', env })
      assert.equal(code, 64)
      assert.match(error, /Usage: holdfast top/)
    })
  }

  void test('the lock that is shown cannot be read alone → it is shown as the list has it, and the list goes on', async (t) => {
    const program = `import { Top } from '${new URL('top/live.js', pathToFileURL(MAIN)).href}'
const owner = '00000000-0000-8000-8000-000000000000'
const client = {
  script: () => ({ run: async () => ['0', '0'] }),
  async *list() { throw new Error('it cannot be read') },
  close: async () => undefined,
}
let readings = 0
const list = async function* () {
  const holders = [{ owner: owner + ':1', client: owner, label: 'reading-' + ++readings, mode: 'exclusive', count: 1 }]
  yield { name: 'a', key: 'a', kind: 'lock', holders, waiting: [], remaining: 20_000 }
}
process.exit(await Top.run(client, { view: {}, interval: 50, where: 'here', server: [], list }))`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (data: string) => (out += data))
    await until(() => out.includes('reading-'))
    child.stdin.write('\r')
    await until(() => out.includes('held by'))
    const readings = (): number => new Set(out.slice(out.indexOf('held by')).match(/reading-\d+/g)).size
    await until(() => readings() >= 4)
    child.stdin.write('q')
    assert.deepEqual(await once(child, 'close'), [0, null])
  })

  if (!TERMINAL) {
    test('needs the script(1) of util-linux', { skip: 'not there' }, () => undefined)
    return
  }

  onServer('it follows what happens; keys select, filter and show; q restores the terminal', async (broken) => {
    const [one, two] = [await broken.open({ label: 'web-1' }), await broken.open({ label: 'web-2' })]
    const top = started(broken)
    await top.shows('No lock has been held')
    const hold = await one.lock('invoice:1').acquire()
    await two.lock('other').acquire()
    await top.shows(/invoice:1 +lock +[\da-f]{8} +web-1/)
    const waiting = two.lock('invoice:1').acquire()
    await top.shows(/invoice:1 .* 1 +\ds/)
    top.type('/oth')
    await top.shows('filter: oth_')
    top.type('\r\r')
    await top.shows(/alive \d+m?s ago[^]*The client is alive[^]*unlock --owner/)
    top.type('x\u001b')
    await top.shows('by WAITED · 2 rows')
    await hold.release()
    await waiting
    await top.shows(/invoice:1 +lock +[\da-f]{8} +web-2/)
    top.type('q')
    assert.equal(await top.ended, 0)
    assert.match(top.fresh(), /\[\?1049licanon/)
  })

  onServer('Ctrl-C → 130, SIGTERM → 143; both restore the terminal', async (broken) => {
    for (const [code, end] of [
      [130, (top: Live) => top.type('\u0003')],
      [143, (top: Live) => top.kill('SIGTERM')],
    ] as const) {
      const top = started(broken)
      await top.shows('No lock has been held')
      end(top)
      assert.equal(await top.ended, code)
      assert.match(top.fresh(), /\[\?1049licanon/)
    }
  })

  onServer('the server goes away and comes back → it says since when, and goes on', async (broken) => {
    const client = await broken.open()
    await client.lock('a').acquire()
    const top = started(broken)
    await top.shows(/> a +lock/)
    await broken.server.stop()
    await top.shows(/as of \d+s ago/)
    await broken.restart()
    const again = await broken.open()
    await again.lock('b').acquire()
    await top.shows(/ b +lock/)
    top.type('q')
    assert.equal(await top.ended, 0)
  })

  onServer('a user who may only look is enough; one who may not → 77, and no picture', async (broken) => {
    const client = await broken.open()
    await client.lock('a').acquire()
    const user = await admit(broken.redis, READER_LINE, 'secret')
    const top = started(broken, [], broken.server.url.replace('//', `//${user}@`))
    await top.shows(/> a +lock/)
    top.type('q')
    assert.equal(await top.ended, 0)
    await broken.redis.acl('SETUSER', 'blind', 'on', '>secret', '-@all', '+ping', '+hello', '+client')
    const refused = started(broken, [], broken.server.url.replace('//', '//blind:secret@'))
    assert.equal(await refused.ended, 77)
    assert.ok(!refused.fresh().includes('\u001b[?1049h'))
  })
})
