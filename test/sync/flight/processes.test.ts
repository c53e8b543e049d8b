import assert from 'node:assert/strict'
import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect } from 'holdfast'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

const program = fileURLToPath(new URL('../../support/flight-process.js', import.meta.url))

interface Told {
  readonly had: number
  readonly tokens: readonly string[]
  readonly computed: number
  readonly count: number
}

interface Stage {
  readonly server: RedisServer
  start(key: string, callers: number, takes: number, begin?: 'told'): { child: ChildProcess; told: Promise<Told> }
  /** What the computations wrote. */
  lines(): string[][]
}

const staged = async (t: TestContext, body: (stage: Stage) => Promise<void>): Promise<void> => {
  const skip = await started(redisEngine)
  await redisEngine.stop?.()
  if (skip !== undefined) return t.skip(skip)
  const server = await startRedis()
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-flights-'))
  const file = join(folder, 'computed')
  writeFileSync(file, '')
  const children: ChildProcess[] = []
  const start: Stage['start'] = (key, callers, takes, begin) => {
    const args = [program, server.url, key, callers, begin ?? 0, takes, file].map(String)
    let child!: ChildProcess
    const told = new Promise<Told>((resolve, reject) => {
      child = execFile(process.execPath, args, (error, stdout) => {
        if (error !== null) reject(new Error(error.message))
        else resolve(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Told)
      })
    })
    told.catch(() => undefined)
    children.push(child)
    return { child, told }
  }
  const lines = (): string[][] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' '))
  try {
    await body({ server, start, lines })
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

void test('8 processes with 1,000 callers each on a cold key → one computation, all have its value soon after', async (t) => {
  await staged(t, async ({ start, lines }) => {
    const parts = Array.from({ length: 8 }, () => start('cold', 1000, 3000, 'told'))
    await Promise.all(parts.map(({ child }) => once(child.stdout as Readable, 'data')))
    const begin = Date.now() + 500
    for (const { child } of parts) child.stdin?.write(`${begin}\n`)
    const told = await Promise.all(parts.map((part) => part.told))
    const wrote = lines()
    assert.deepEqual(
      wrote.map(([what, token]) => [what, token]),
      [
        ['began', '1'],
        ['ended', '1'],
      ],
    )
    for (const { tokens, count } of told) assert.deepEqual([tokens, count], [['1'], 1000])
    assert.equal(
      told.reduce((sum, { computed }) => sum + computed, 0),
      1,
    )
    const ended = Number(wrote[1]?.[2])
    const latest = Math.max(...told.map(({ had }) => had)) - ended
    t.diagnostic(`the last of 8,000 had it ${latest} ms after it was computed`)
    // A lost message would take a poll, a second.
    assert.ok(latest < 900, `${latest} ms`)
  })
})

void test('the process that computes is killed → exactly one of the others takes over, after its lease', async (t) => {
  await staged(t, async ({ server, start, lines }) => {
    const first = start('killed', 5, 60_000)
    await until(() => Promise.resolve(lines().length === 1))
    const others = Array.from({ length: 3 }, () => start('killed', 20, 200))
    const looker = await connect(server.url)
    const topic = looker.topic('holdfast_flight:{reports}:killed')
    await until(async () => (await topic.subscribers()) === 3)
    await looker.close()
    const killed = Date.now()
    first.child.kill('SIGKILL')
    const told = await Promise.all(others.map((part) => part.told))
    const wrote = lines()
    assert.deepEqual(
      wrote.map(([what, token]) => [what, token]),
      [
        ['began', '1'],
        ['began', '2'],
        ['ended', '2'],
      ],
    )
    for (const { tokens } of told) assert.deepEqual(tokens, ['2'])
    const took = Number(wrote[2]?.[2]) - 200 - killed
    t.diagnostic(`taken over ${took} ms after the kill; the lease is 2,000 ms`)
    assert.ok(took < 2000 + 1000 + 2000, `${took} ms`)
  })
})
