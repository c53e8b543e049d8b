import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { fakedOffset, faketime } from '../suites/soak/faketime.js'
import { type Broken, onServer } from '../support/server.js'
import { until } from '../support/until.js'

const program = fileURLToPath(new URL('../support/node-cron-process.js', import.meta.url))
const VERSIONS = ['oldest', 'newest'] as const

interface Line {
  readonly what: string
  readonly fire: string
  readonly pid: number
  readonly attempt: number
  readonly text: string
}

class Crew {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-node-cron-'))
  readonly children: ChildProcess[] = []
  readonly #url: string
  readonly #args: readonly string[]
  readonly #file = join(this.#folder, 'fires')

  constructor({ server, after }: Broken, ...args: readonly string[]) {
    this.#url = server.url
    this.#args = args
    writeFileSync(this.#file, '')
    after(() => {
      for (const child of this.children) child.kill('SIGKILL')
      rmSync(this.#folder, { recursive: true, force: true })
    })
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    const child = spawn(process.execPath, [program, this.#url, this.#file, ...this.#args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })
    this.children.push(child)
    await once(child.stdout, 'data')
    return child
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill('SIGTERM')
        await once(child, 'exit')
      }),
    )
  }

  lines(): readonly Line[] {
    const all = readFileSync(this.#file, 'utf8').trim().split('\n')
    return all.map((text) => {
      const [what = '', fire = '', pid, , attempt] = text.split(' ')
      return { what, fire, pid: Number(pid), attempt: Number(attempt), text }
    })
  }

  of(what: string): readonly Line[] {
    return this.lines().filter((line) => line.what === what)
  }

  ended(count: number): Promise<void> {
    return until(() => this.of('end').length >= count, 60_000)
  }
}

const firesOf = (lines: readonly Line[]): readonly string[] => lines.map(({ fire }) => fire)
const assertOnce = (lines: readonly Line[]): void => {
  const fires = firesOf(lines)
  assert.equal(new Set(fires).size, fires.length, `a fire came twice: ${fires.join(' ')}`)
}

for (const version of VERSIONS) {
  onServer(`node-cron, ${version}: three processes, a fire each second → each runs once`, async (broken) => {
    const crew = new Crew(broken, version)
    for (let i = 0; i < 3; i++) await crew.start()
    await crew.ended(8)
    await crew.stop()
    const [begun, ended] = [crew.of('begin'), crew.of('end')]
    assertOnce(begun)
    assert.deepEqual(firesOf(ended), firesOf(begun))
    assert.deepEqual(crew.of('error'), [])
  })
}

for (const version of VERSIONS.slice(1)) {
  onServer(`node-cron, ${version}: killed in the middle → that fire never again, the next ones run`, async (broken) => {
    const crew = new Crew(broken, version)
    for (let i = 0; i < 3; i++) await crew.start()
    await crew.ended(2)
    const killed = await killOne(crew)
    await crew.ended(crew.of('end').length + 5)
    await crew.stop()
    assertOnce(crew.of('begin'))
    assert.ok(!firesOf(crew.of('end')).includes(killed.fire))
  })

  onServer(`node-cron, ${version}, retry: killed in the middle → another process runs that fire`, async (broken) => {
    const crew = new Crew(broken, version, '1')
    for (let i = 0; i < 3; i++) await crew.start()
    await crew.ended(2)
    const killed = await killOne(crew)
    await until(() => firesOf(crew.of('end')).includes(killed.fire))
    await crew.stop()
    assertOnce(crew.of('end'))
    const tries = crew.of('begin').filter(({ fire }) => fire === killed.fire)
    assert.deepEqual(
      tries.map(({ attempt }) => attempt),
      [1, 2],
    )
    assert.notEqual(tries[1]?.pid, killed.pid)
  })
}

onServer('clocks that differ from the server’s → each fire runs once, and never before it is due', async (broken) => {
  const crew = new Crew(broken, 'newest')
  const clocks = faketime === undefined ? ['+0s'] : ['+2s', '-2s', '+3600s', '+0s']
  const pids = new Map<string, number | undefined>()
  for (const clock of clocks) {
    const env = faketime === undefined ? {} : fakedOffset(clock)
    pids.set(clock, (await crew.start(env)).pid)
  }
  await crew.ended(8)
  await crew.stop()
  assertOnce(crew.of('begin'))
  const slots = (await broken.open()).slots('job')
  for (const { fire, pid } of crew.of('begin')) {
    const state = await slots.inspect(new Date(fire))
    assert.ok((state?.began ?? 0) >= Date.parse(fire), `${fire} began at ${state?.began}`)
    assert.notEqual(pid, pids.get('+3600s'), 'an hour too early')
  }
  const errors = crew.of('error').map(({ text }) => text)
  if (faketime !== undefined) assert.ok(errors.length > 0)
  for (const error of errors) assert.match(error, /clock is 3[56]\d{5} ms ahead of the server's/)
})

/** Kills a process in the middle of its work. */
const killOne = async (crew: Crew): Promise<Line> => {
  const count = crew.of('begin').length
  await until(() => crew.of('begin').length > count)
  const line = crew.of('begin').at(-1) ?? assert.fail('no fire')
  process.kill(line.pid, 'SIGKILL')
  await sleep(0)
  return line
}
