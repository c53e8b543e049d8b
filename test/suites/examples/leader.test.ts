import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { redisEngine, started } from '../../support/engines.js'
import { startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

const program = fileURLToPath(new URL('../../../examples/leader.js', import.meta.url))

void test('the example of a leader, alone → each of three instances leads once, in the order of coming', async () => {
  const env = { ...process.env }
  delete env['HOLDFAST_URL']
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  const lines = stdout.trim().split('\n')
  assert.deepEqual(lines, [
    ...['ada: leading, term 1', 'ada: no longer leading', 'bob: leading, term 2', 'bob: no longer leading'],
    ...['cleo: leading, term 3', 'cleo: no longer leading'],
  ])
})

void test('the example of a leader in three processes → after SIGTERM and kill -9 the next one leads', async (t) => {
  const skip = await started(redisEngine)
  await redisEngine.stop?.()
  if (skip !== undefined) return t.skip(skip)
  const server = await startRedis()
  const said = new Map<string, string>()
  const children = new Map<string, ChildProcess>()
  try {
    for (const name of ['ada', 'bob', 'cleo']) {
      const env = { ...process.env, HOLDFAST_URL: server.url }
      const child = spawn(process.execPath, [program, name], { env, stdio: ['ignore', 'pipe', 'inherit'] })
      child.stdout.on('data', (data: Buffer) => said.set(name, (said.get(name) ?? '') + data.toString()))
      children.set(name, child)
      if (name === 'ada') await until(() => said.get('ada')?.includes('leading') === true)
    }
    await new Promise((resolve) => setTimeout(resolve, 1500))
    children.get('ada')!.kill('SIGTERM')
    const leads = (name: string): boolean => said.get(name)?.includes(': leading') === true
    await until(() => leads('bob') || leads('cleo'))
    await until(() => said.get('ada')!.includes('no longer'))
    const next = leads('bob') ? 'bob' : 'cleo'
    children.get(next)!.kill('SIGKILL')
    await until(() => leads('bob') && leads('cleo'))
  } finally {
    for (const child of children.values()) child.kill('SIGKILL')
    await server.stop()
  }
})
