import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import type { Snapshot } from '#src/dashboard/page-messages.js'
import { until } from '../../support/until.js'

const MAIN = resolve('dist/cli/main.js')
const SHOW_CURSOR = '\x1b[?25h'
const LEAVE = '\x1b[?1049l'

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly out: string
  readonly err: string
}

interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when the output so far holds the text. */
  seen(text: string | RegExp): Promise<string>
}

const start = (command: string, args: readonly string[], env: Record<string, string> = {}): Running => {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  let check = (): void => undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    check()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const ended = new Promise<Ended>((done, failed) => {
    child.once('error', failed)
    child.once('close', (code, signal) => done({ code, signal, out, err }))
  })
  const seen = (text: string | RegExp): Promise<string> =>
    new Promise((done, failed) => {
      check = () => {
        if (typeof text === 'string' ? out.includes(text) : text.test(out)) done(out)
      }
      check()
      ended.then(() => failed(new Error(`ended before ${String(text)} was seen:\n${out}${err}`)), failed)
    })
  return { child, ended, seen }
}

const holdfast = (...args: string[]): Running => start(process.execPath, [MAIN, ...args])

const PYTHON = `import os, pty, sys
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try: data = os.read(fd, 65536)
    except OSError: break
    if not data: break
    os.write(1, data)
code = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(code) if os.WIFEXITED(code) else 128 + os.WTERMSIG(code))`

const works = (command: string, args: string[], says: RegExp): boolean =>
  says.test(spawnSync(command, args, { encoding: 'utf8' }).stdout)

const viaScript = works('script', ['--version'], /util-linux/)
const noPty = !viaScript && !works('python3', ['-c', 'import pty; print("pty")'], /pty/) && 'no script and no python3'

/** The demo in a terminal of its own, of the given size; the first line tells its process id. */
const inTerminal = (args: string, { columns = 80, rows = 24, env = {} } = {}): Running => {
  const run = `stty cols ${String(columns)} rows ${String(rows)}; echo pid=$$; exec '${process.execPath}' '${MAIN}' ${args}`
  const set = { TERM: 'xterm-256color', NO_COLOR: '', ...env }
  return viaScript
    ? start('script', ['-qfec', run, '/dev/null'], { ...set, SHELL: '/bin/sh' })
    : start('python3', ['-c', PYTHON, '/bin/sh', '-c', run], set)
}

const pidOf = async (running: Running): Promise<number> =>
  Number(/pid=(\d+)\r?\n/.exec(await running.seen(/pid=\d+\r?\n/))?.[1])

const tells = (text: string): void => {
  assert.match(text, /cleo crashes while holding/)
  assert.match(text, /\(cleo -> \w+\)/, 'the lock of the crashed one went on')
  assert.match(text, /finn notices that the hold is lost, and stops/)
  assert.match(text, /\(finn -> \w+\)/, 'the lost lock went on')
  assert.match(text, /never two inside +checked \d{2,} times/)
}

const summarized = (text: string): void => {
  assert.match(text, /crashed +1 {2}cleo, holding 'orders'; \w+ acquired it \d\.\d\d s later/)
  assert.match(text, /lost and noticed +[1-9][^]* finn, holding 'invoices'; \w+ acquired it/)
  assert.match(text, /left behind +nothing/)
  assert.match(text, /npm test[^]*README\.md/)
}

test('a pipe gets a plain log with the crash, the loss, the hand-overs and the summary', async () => {
  const { code, out, err } = await holdfast('demo', '--seconds', '3').ended
  assert.equal(err, '')
  assert.equal(code, 0)
  assert.ok(!out.includes('\x1b'), 'no escape codes')
  tells(out)
  summarized(out)
  for (const line of out.split('\n')) assert.ok(line.length <= 120, line)
})

for (const [signal, expected] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  test(`${signal} ends a plain demo with ${String(expected)}`, async () => {
    const running = holdfast('demo', '--plain')
    await running.seen('acquires it')
    running.child.kill(signal)
    const { code, err } = await running.ended
    assert.equal(code, expected)
    assert.equal(err, '')
  })

test('a terminal gets the live picture, and keeps the summary', { skip: noPty }, async () => {
  const { code, out } = await inTerminal('demo --seconds 3').ended
  assert.equal(code, 0)
  assert.ok(out.includes('\x1b[?1049h') && out.includes('\x1b[?25l'))
  assert.ok(out.includes('\x1b[32m'), 'colours')
  assert.match(out, /╭─ /)
  const after = out.slice(out.lastIndexOf(LEAVE))
  assert.ok(out.lastIndexOf(SHOW_CURSOR) > out.lastIndexOf('\x1b[?25l'))
  // eslint-disable-next-line no-control-regex
  summarized(after.replace(/\x1b\[[\d;]*m/g, ''))
  assert.ok(!after.includes('╭'))
})

for (const [signal, expected] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  test(`${signal} puts the terminal back and ends with ${String(expected)}`, { skip: noPty }, async () => {
    const running = inTerminal('demo')
    const pid = await pidOf(running)
    await running.seen('held by')
    process.kill(pid, signal)
    const { code, out } = await running.ended
    assert.equal(code, expected)
    const last = out.lastIndexOf('\x1b[?2026l')
    assert.ok(out.lastIndexOf(SHOW_CURSOR) > last && out.lastIndexOf(LEAVE) > last && out.lastIndexOf('\x1b[0m') > last)
  })

test('an error that nobody caught puts the terminal back before it is told', { skip: noPty }, async () => {
  const bomb = `data:text/javascript,setTimeout(()=>{throw(new(Error)('boom'))},2000)`
  const { code, out } = await inTerminal('demo', { env: { NODE_OPTIONS: `--import=${bomb}` } }).ended
  assert.equal(code, 1)
  const told = out.indexOf('boom')
  assert.ok(out.includes('held by') && told > out.lastIndexOf(SHOW_CURSOR) && told > out.lastIndexOf(LEAVE))
})

test('NO_COLOR takes the colours away, not the picture', { skip: noPty }, async () => {
  const running = inTerminal('demo', { env: { NO_COLOR: '1' } })
  const pid = await pidOf(running)
  await running.seen('held by')
  process.kill(pid, 'SIGTERM')
  const { out } = await running.ended
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(out, /\x1b\[[1-9][\d;]*m/)
  assert.match(out, /╭─ orders/)
})

test('a small terminal gets the plain log', { skip: noPty }, async () => {
  const running = inTerminal('demo', { columns: 79 })
  const pid = await pidOf(running)
  await running.seen('acquires it')
  process.kill(pid, 'SIGTERM')
  assert.ok(!(await running.ended).out.includes('\x1b'))
})

test('a reader that goes away ends it quietly', async () => {
  const running = holdfast('demo', '--plain')
  await running.seen('acquires it')
  running.child.stdout?.destroy()
  const { code, err } = await running.ended
  assert.equal(code, 0)
  assert.equal(err, '')
})

test('--version and --help', async () => {
  assert.match((await holdfast('--version').ended).out, /^\d+\.\d+\.\d+\S*\n$/)
  assert.match((await holdfast('--help').ended).out, /holdfast COMMAND[^]*demo +watch/)
  const { code, out } = await holdfast('demo', '--help').ended
  assert.equal(code, 0)
  assert.match(out, /--plain/)
})

test('a wrong command line is told on stderr, with exit code 64', async () => {
  const wrong: [string[], RegExp][] = [
    [[], /Usage/],
    [['dmeo'], /unknown command "dmeo"/],
    [['--nonsense'], /unknown command "--nonsense"/],
    [['demo', '--nonsense'], /--nonsense/],
    [['demo', '--seconds', 'soon'], /--seconds must be a number from 3 to 600, not "soon"/],
    [['demo', '--seconds', '1'], /from 3 to 600/],
    [['demo', 'extra'], /extra/],
  ]
  for (const [args, says] of wrong) {
    const { code, out, err } = await holdfast(...args).ended
    assert.equal(code, 64, args.join(' '))
    assert.equal(out, '')
    assert.match(err, says)
  }
})

test('a server that does not answer is an error in one line, without its password', async () => {
  const { code, out, err } = await holdfast('demo', '--url', 'redis://user:s3cret@127.0.0.1:1').ended
  assert.equal(code, 1)
  assert.equal(out, '')
  assert.match(err, /^holdfast: [^\n]*127\.0\.0\.1:1[^\n]*\n$/)
  assert.ok(!err.includes('s3cret'))
})

const redis = works('redis-server', ['--version'], /Redis/)

test('on a server: the process that crashes is a real one', { skip: !redis && 'no redis-server' }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-demo-'))
  const socket = join(dir, 'redis.sock')
  const server = start('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', dir])
  try {
    await server.seen(/ready to accept connections/i)
    assert.ok(readdirSync(dir).includes('redis.sock'))
    const { code, out, err } = await holdfast('demo', '--plain', '--seconds', '12', '--url', `redis+unix://${socket}`)
      .ended
    assert.equal(err, '')
    assert.equal(code, 0)
    tells(out)
    summarized(out)
  } finally {
    server.child.kill()
    await server.ended
    rmSync(dir, { recursive: true, force: true })
  }
})

/** What a browser gets that opens the printed address. */
const stateAt = async (address: string): Promise<() => Promise<Snapshot>> => {
  const entered = await fetch(address, { redirect: 'manual' })
  const page = new URL(entered.headers.get('location') ?? '', address)
  const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';')
  return async () => (await (await fetch(new URL('state', page), { headers: { cookie } })).json()) as Snapshot
}

void test('--dashboard: the page shows the same workers, and nobody can act there', async () => {
  const running = holdfast('demo', '--dashboard', '--seconds', '60')
  try {
    const out = await running.seen(/Open in your browser: http:\S+\n/)
    const state = await stateAt(/http:\S+/.exec(out)?.[0] ?? '')
    const labels = new Set<string | undefined>()
    await until(async () => {
      const { locks, where, may } = await state()
      assert.deepEqual([where, may], ['demo', 'read'])
      for (const { name, holders, waiting } of locks) {
        assert.match(name, /^(orders|invoices|printer)$/)
        for (const { label } of [...holders, ...waiting]) labels.add(label)
      }
      return labels.size >= 4
    }, 40_000)
    for (const label of labels) assert.match(label ?? 'none', /^(ada|bob|cleo|dan|eve|finn|gus|hana)$/)
  } finally {
    running.child.kill('SIGINT')
  }
  assert.equal((await running.ended).code, 130)
})
