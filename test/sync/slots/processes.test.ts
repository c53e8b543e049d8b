import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { redisEngine, started } from '../../support/engines.js'
import { startRedis } from '../../support/redis-server.js'

const program = fileURLToPath(new URL('../../support/slots-process.js', import.meta.url))
/** HOLDFAST_SLOT=100 for slots of 100 ms; a fifth of that by default. */
const EVERY = Number(process.env['HOLDFAST_SLOT'] ?? 20)
const SLOTS = 1000

void test(`three processes, 1,000 slots of ${EVERY} ms → each slot ran once`, async (t) => {
  const skip = await started(redisEngine)
  await redisEngine.stop?.()
  if (skip !== undefined) return t.skip(skip)
  const server = await startRedis()
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-slots-'))
  const file = join(folder, 'ran')
  writeFileSync(file, '')
  try {
    const first = Date.now() + 1500
    const args = [program, server.url, 'jobs', String(SLOTS), String(EVERY), String(first), file]
    const run = promisify(execFile)
    const told = await Promise.all([1, 2, 3].map(() => run(process.execPath, args)))
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    const ran = lines.map((line) => line.split(' ')[0])
    assert.equal(ran.length, SLOTS)
    assert.equal(new Set(ran).size, SLOTS, 'a slot ran twice')
    const tokens = lines.map((line) => line.split(' ')[1])
    assert.equal(new Set(tokens).size, SLOTS, 'a token came twice')
    t.diagnostic(told.map(({ stdout }) => stdout).join(' '))
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
