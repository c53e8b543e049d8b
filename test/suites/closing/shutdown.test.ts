import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** The page's programs, in their order. */
const snippets = async (): Promise<string[]> => {
  const page = await readFile(join(root, 'docs/shutdown.md'), 'utf8')
  return [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code)
}

interface Ran {
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; signal: string | null; out: string; ms: number }>
  said(word: string, times?: number): Promise<void>
}

void describe('docs/shutdown.md, its programs as real processes', () => {
  let server: RedisServer | undefined
  let directory = ''
  let skip: string | undefined
  before(async () => {
    skip = await started({ ...redisEngine, start: async () => void (server = await startRedis()) })
    // Beside the compiled tests, so that the package is found by its name.
    directory = await mkdtemp(join(root, '.build/shutdown-'))
  })
  after(async () => {
    await server?.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const run = async (code: string, stdio: 'pipe' | 'ipc' = 'pipe'): Promise<Ran> => {
    const file = join(directory, `program-${Math.random().toString(36).slice(2)}.mjs`)
    await writeFile(file, code)
    const child = spawn(process.execPath, [file], {
      env: { ...process.env, HOLDFAST_URL: server?.url },
      stdio: stdio === 'ipc' ? ['ignore', 'pipe', 'inherit', 'ipc'] : ['ignore', 'pipe', 'ignore'],
    })
    let out = ''
    const heard: (() => void)[] = []
    child.stdout?.on('data', (data: Buffer) => {
      out += data.toString()
      for (const hear of heard) hear()
    })
    const ended = once(child, 'exit').then(([code, signal]) => ({
      ...{ code: code as number | null, signal: signal as string | null, out },
      ms: performance.now() - killedAt,
    }))
    let killedAt = NaN
    const kill = child.kill.bind(child)
    child.kill = (signal) => {
      killedAt = performance.now()
      return kill(signal)
    }
    const said = (word: string, times = 1): Promise<void> =>
      new Promise((resolve, reject) => {
        const hear = (): void => {
          if (out.split(word).length > times) resolve()
        }
        heard.push(hear)
        hear()
        void ended.then(({ code }) => {
          reject(new Error(`it ended with ${code}: ${out}`))
        })
      })
    return { child, ended, said }
  }

  const free = async (name: string): Promise<boolean> => {
    const client = await connect(server?.url)
    const locked = await client.lock(name).isLocked()
    await client.close()
    return !locked
  }

  const scenario = (name: string, body: (programs: string[]) => Promise<void>): void => {
    void test(name, { timeout: 60_000 }, async (t) => {
      if (skip !== undefined) t.skip(skip)
      else await body(await snippets())
    })
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    scenario(`${signal} → the work ends, the lock is free, and the process ends by that signal`, async ([program]) => {
      const { child, ended, said } = await run(program ?? '')
      await said('working', 2)
      child.kill(signal)
      const { out, signal: by, ms } = await ended
      assert.equal(by, signal)
      assert.equal(out.split('working').length, out.split('done').length, out)
      assert.ok(ms < 10_000, `it took ${ms} ms`)
      assert.ok(await free('lock:orders'))
    })
  }

  const slow = (program: string): string => program.replace('300)', '60_000)')

  scenario('a second signal → the process ends at once', async ([program = '']) => {
    const { child, ended, said } = await run(slow(program))
    await said('working')
    child.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 300))
    child.kill('SIGTERM')
    const { signal, ms } = await ended
    assert.equal(signal, 'SIGTERM')
    assert.ok(ms < 3000, `it took ${ms} ms`)
    const client = await connect(server?.url)
    await client.lock('lock:orders').forceRelease()
    await client.close()
  })

  scenario('work that outlasts the drain → released, and the process ends in time', async ([program = '']) => {
    const { child, ended, said } = await run(slow(program).replace('drain: 10_000', 'drain: 500'))
    await said('working')
    child.kill('SIGTERM')
    const { signal, ms } = await ended
    assert.equal(signal, 'SIGTERM')
    assert.ok(ms < 8000, `it took ${ms} ms`)
    assert.ok(await free('lock:orders'))
  })

  scenario('another listener of the signal → it is called, and the process is its to end', async ([program = '']) => {
    const other = `
process.on('SIGTERM', () => {
  console.log('heard')
  setTimeout(() => console.log('theirs'), 1500)
})
`
    const { child, ended, said } = await run(other + program.replaceAll('300)', '100)'))
    await said('working')
    child.kill('SIGTERM')
    const { code, out } = await ended
    assert.match(out, /heard/)
    assert.match(out, /theirs/)
    assert.equal(code, 143)
  })

  scenario('a listener of your own → the work ends, the lock is free, then the rest is closed', async ([, program]) => {
    const { child, ended, said } = await run(program ?? '')
    await said('working', 2)
    child.kill('SIGTERM')
    const { code, out } = await ended
    assert.equal(code, 143)
    assert.match(out, /^(working\ndone\n)+closing the database\n$/)
    assert.ok(await free('lock:orders'))
  })

  scenario('the work throws, even undefined → the loop goes on', async ([program = '']) => {
    const { child, ended, said } = await run(program.replace("console.log('done')", 'throw undefined'))
    await said('working', 2)
    child.kill('SIGTERM')
    assert.equal((await ended).signal, 'SIGTERM')
  })

  scenario('off() → nobody listens any more, and the signal ends the process as ever', async () => {
    const { child, ended, said } = await run(`
import { connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'
const client = await connect()
const off = shutdownOn(client, ['SIGTERM', 'SIGINT'], { drain: 10_000 })
await client.lock('off').acquire()
const listeners = () => ['SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal)).join()
console.log(listeners())
off()
off()
console.log(listeners())
console.log('ready')
`)
    await said('ready')
    child.kill('SIGTERM')
    const { out, signal, ms } = await ended
    assert.match(out, /^1,1\n0,0\n/)
    assert.equal(signal, 'SIGTERM')
    assert.ok(ms < 3000, `it took ${ms} ms`)
    assert.equal(await free('off'), false, 'it was not closed')
    const client = await connect(server?.url)
    await client.lock('off').forceRelease()
    await client.close()
  })

  scenario('several clients, one cannot close, a signal named twice → each drains, then the process ends', async () => {
    const { child, ended, said } = await run(`
import { connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'
const [one, other] = [await connect(), await connect()]
const broken = { close: () => Promise.reject(new Error('it cannot')) }
shutdownOn([broken, one, other], ['SIGTERM', 'SIGTERM'], { drain: 10_000 })
const work = (name, ms) => async () => {
  console.log('working')
  await new Promise((resolve) => setTimeout(resolve, ms))
  console.log(name)
}
await Promise.all([one.lock('one').using(work('first done', 300)), other.lock('other').using(work('second done', 900))])
setInterval(() => undefined, 1000)
`)
    await said('working', 2)
    child.kill('SIGTERM')
    const { out, signal, ms } = await ended
    assert.match(out, /first done\nsecond done\n$/)
    assert.equal(signal, 'SIGTERM')
    assert.ok(ms < 5000, `it took ${ms} ms`)
    assert.ok((await free('one')) && (await free('other')))
  })

  scenario('PM2’s message → closed, and exit code 0', async ([, , program = '']) => {
    const { child, ended, said } = await run(program, 'ipc')
    await said('ready')
    child.send('shutdown')
    assert.equal((await ended).code, 0)
  })

  scenario(
    'SIGTERM to the primary of a cluster → each worker ends its work, then the primary ends',
    async ([, , , program = '']) => {
      const { child, ended, said } = await run(program.replace('sleep(300)', 'sleep(1500)'))
      await said('working', 2)
      child.kill('SIGTERM')
      const { code, out } = await ended
      assert.equal(out.split('done').length - 1, 2, out)
      assert.equal(code, 0)
      assert.ok((await free('lock:orders:1')) && (await free('lock:orders:2')))
    },
  )

  scenario(
    'SIGTERM while the workers of a cluster wait → they end, and no error is shown',
    async ([, , , program = '']) => {
      await using client = await connect(server?.url)
      const locks = [1, 2].map((id) => client.lock(`lock:orders:${id}`))
      const holds = await Promise.all(locks.map((lock) => lock.acquire()))
      const shown = `process.on('uncaughtExceptionMonitor', (error) => console.log(String(error)))\n${program}`
      const { child, ended } = await run(shown)
      const waits = async (): Promise<boolean> =>
        (await Promise.all(locks.map((lock) => lock.inspect()))).every(({ waiting }) => waiting.length === 1)
      while (!(await waits())) await new Promise((resolve) => setTimeout(resolve, 50))
      child.kill('SIGTERM')
      const { code, out } = await ended
      assert.deepEqual([code, out], [0, ''])
      await Promise.all(holds.map((hold) => hold.release()))
    },
  )

  scenario('a Lambda handler → its lock is free when it has returned', async ([, , , , program = '']) => {
    const { ended } = await run(`${program}\nconsole.log(await handler())\nawait client.close()\n`)
    const { code, out } = await ended
    assert.equal(out, 'done\n')
    assert.equal(code, 0)
    assert.ok(await free('lock:orders'))
  })
})

void test('shutdownOn: a client, a signal or an option that is none → a TypeError or RangeError, and nobody listens', async () => {
  await using client = await connect('memory:')
  const listeners = (): number[] => ['SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal))
  const before = listeners()
  const wrong: readonly (readonly [args: readonly unknown[], said: RegExp])[] = [
    [[], /^TypeError: clients\[0\] must have a method close\(\)/],
    [[null], /^TypeError: clients\[0\] must have a method close\(\)/],
    [[[client, {}]], /^TypeError: clients\[1\] must have a method close\(\)/],
    [[client, 'SIGTERM'], /^TypeError: signals must be an array, such as \['SIGTERM', 'SIGINT'\], not "SIGTERM"/],
    [[client, ['SIGTERM', 'SIGTREM']], /^TypeError: signals must be names such as 'SIGTERM', not "SIGTREM"/],
    [[client, ['SIGTERM', 15]], /^TypeError: signals must be names such as 'SIGTERM', not 15/],
    [[client, ['SIGTERM', 'toString']], /^TypeError: signals must be names such as 'SIGTERM', not "toString"/],
    [
      [client, ['SIGTERM', 'SIGKILL']],
      /^TypeError: signals must not contain "SIGKILL", because no process can listen to it/,
    ],
    [[client, ['SIGTERM', 'SIGSTOP']], /^TypeError: signals must not contain "SIGSTOP"/],
    [[client, ['SIGTERM'], { drian: 1 }], /^TypeError: there is no option 'drian' \(did you mean 'drain'\?\)/],
    [[client, ['SIGTERM'], null], /^TypeError: options must be an object/],
    [[client, ['SIGTERM'], { drain: -1 }], /^RangeError: drain /],
    [[client, ['SIGTERM'], { drain: Infinity }], /^RangeError: drain /],
    [[client, ['SIGTERM'], { drain: '1s' }], /^TypeError: drain /],
    [[client, ['SIGTERM'], { release: 'no' }], /^TypeError: release must be true or false/],
  ]
  for (const [args, said] of wrong) {
    assert.throws(() => shutdownOn(...(args as Parameters<typeof shutdownOn>)), said)
    assert.deepEqual(listeners(), before)
  }
  assert.equal(client.closing.aborted, false)
})
