import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Broken, onServer } from '../../support/server.js'
import { until } from '../../support/until.js'

const program = fileURLToPath(new URL('../../../examples/cache-stampede.js', import.meta.url))

class Instance {
  readonly child: ChildProcess
  said = ''

  constructor({ server, after }: Broken, name: string) {
    const env = { ...process.env, HOLDFAST_URL: server.url }
    this.child = spawn(process.execPath, [program, name], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    this.child.stdout?.on('data', (data: Buffer) => (this.said += data.toString()))
    after(() => this.child.kill('SIGKILL'))
  }

  async ended(): Promise<string> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close')
    return this.said
  }
}

const count = (text: string, word: string | RegExp): number => text.split(word).length - 1

onServer('the example of the cache stampede, three processes → one computes for 300 requests', async (broken) => {
  const instances = ['ada', 'bob', 'cleo'].map((name) => new Instance(broken, name))
  const said = (await Promise.all(instances.map((one) => one.ended()))).join('')
  assert.equal(count(said, ': computing'), 1, said)
  assert.equal(count(said, /: 100 requests got the report of (?:ada|bob|cleo) within/), 3, said)
})

onServer('the example of the cache stampede, the one that computes is killed → another takes over', async (broken) => {
  const first = new Instance(broken, 'ada')
  await until(() => first.said.includes('ada: computing'))
  first.child.kill('SIGKILL')
  const others = ['bob', 'cleo'].map((name) => new Instance(broken, name))
  const said = (await Promise.all(others.map((one) => one.ended()))).join('')
  assert.equal(count(said, ': computing'), 1, said)
  assert.equal(count(said, /: 100 requests got the report of (?:bob|cleo) within/), 2, said)
})

void test('the example of the cache stampede, in one process → one of three instances computes', async () => {
  const env = { ...process.env }
  delete env['HOLDFAST_URL']
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  assert.equal(count(stdout, ': computing'), 1, stdout)
  assert.equal(count(stdout, ': 100 requests got the report of'), 3, stdout)
})
