import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { redisEngine, started } from '../support/engines.js'
import { startRedis } from '../support/redis-server.js'

const program = fileURLToPath(new URL('../support/schedule-process.js', import.meta.url))

void test('three processes, a slot each second, one killed in the middle of its work → each slot ends once', async (t) => {
  const skip = await started(redisEngine)
  await redisEngine.stop?.()
  if (skip !== undefined) return t.skip(skip)
  const server = await startRedis()
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-schedule-'))
  const file = join(folder, 'slots')
  writeFileSync(file, '')
  const children: ChildProcess[] = []
  const lines = (): string[][] =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
  try {
    for (let i = 0; i < 3; i++) {
      const child = spawn(process.execPath, [program, server.url, 'jobs', file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(child)
      await once(child.stdout, 'data')
    }
    await sleep(4000)
    children[0]!.kill('SIGKILL')
    await sleep(8000)
    for (const child of children.slice(1)) child.kill('SIGTERM')
    await Promise.all(
      children.slice(1).map(async (child) => child.exitCode ?? child.signalCode ?? (await once(child, 'exit'))),
    )
    const all = lines()
    const slotsOf = (what: string): string[] => all.filter(([word]) => word === what).map(([, slot = '']) => slot)
    const [begun, ended, missed] = [slotsOf('begin'), slotsOf('end'), slotsOf('missed')]
    t.diagnostic(`${begun.length} begun, ${ended.length} ended, ${missed.length} missed`)
    assert.ok(ended.length >= 8, `${ended.length} slots`)
    assert.equal(new Set(ended).size, ended.length, 'a slot ended twice')
    assert.deepEqual(missed, [])
    assert.deepEqual([...new Set(begun)].sort(), [...ended].sort(), 'what was begun ended')
    assert.ok(begun.length - ended.length <= 1, 'only what was killed was begun again')
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
