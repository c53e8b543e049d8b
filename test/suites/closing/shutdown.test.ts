import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect } from 'holdfast'
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
      assert.ok(await free('orders'))
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
    await client.lock('orders').forceRelease()
    await client.close()
  })

  scenario('work that outlasts the drain → released, and the process ends in time', async ([program = '']) => {
    const { child, ended, said } = await run(slow(program).replace('drain: 10_000', 'drain: 500'))
    await said('working')
    child.kill('SIGTERM')
    const { signal, ms } = await ended
    assert.equal(signal, 'SIGTERM')
    assert.ok(ms < 8000, `it took ${ms} ms`)
    assert.ok(await free('orders'))
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

  scenario('PM2’s message → closed, and exit code 0', async ([, program = '']) => {
    const { child, ended, said } = await run(program, 'ipc')
    await said('ready')
    child.send('shutdown')
    assert.equal((await ended).code, 0)
  })

  scenario('a Lambda handler → its lock is free when it has returned', async ([, , program = '']) => {
    const { ended } = await run(`${program}\nconsole.log(await handler())\nawait client.close()\n`)
    const { code, out } = await ended
    assert.equal(out, 'done\n')
    assert.equal(code, 0)
    assert.ok(await free('orders'))
  })
})
