import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { schedule } from 'holdfast/schedule'
import { redisEngine, started } from '../support/engines.js'
import { startRedis } from '../support/redis-server.js'
import { until } from '../support/until.js'

const GRACE = 1500

void test('a server that keeps its data is away for three slots and more → none runs twice, each ran or is missed, and it goes on', async (t) => {
  const skip = await started(redisEngine)
  await redisEngine.stop?.()
  if (skip !== undefined) return t.skip(skip)
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-restart-'))
  const keeps = ['--dir', directory, '--appendonly', 'yes', '--appendfsync', 'always']
  let server = await startRedis(keeps)
  const clients = await Promise.all([1, 2].map(() => connect(server.url)))
  const [ran, missed]: [number[], number[]] = [[], []]
  const schedules = clients.map((client) => {
    client.on('error', () => undefined)
    const onMissed = (slots: readonly Date[]): void => void missed.push(...slots.map(Number))
    const options = { cron: '* * * * * *', grace: GRACE, onMissed, onResult: () => undefined }
    return schedule(client, 'jobs', options, ({ due }) => void ran.push(due.getTime()))
  })
  try {
    await until(() => ran.length >= 3)
    const port = server.port
    await server.stop()
    const gone = Date.now()
    await sleep(5500)
    server = await startRedis([...keeps, '--port', String(port)])
    const back = Date.now()
    await until(() => ran.some((slot) => slot > back + 2000))
    await Promise.all((await Promise.all(schedules)).map((one) => one.stop()))
    assert.equal(new Set(ran).size, ran.length, 'a slot ran twice')
    assert.equal(new Set(missed).size, missed.length, 'a slot is reported twice')
    const told = [...ran, ...missed].sort((one, other) => one - other)
    const first = told[0] as number
    assert.deepEqual(
      told.map((slot) => (slot - first) / 1000),
      told.map((_slot, i) => i),
      'each slot ran or is missed',
    )
    const during = missed.filter((slot) => slot > gone && slot < back)
    t.diagnostic(`${ran.length} ran, ${missed.length} missed, ${during.length} of them while the server was away`)
    assert.ok(during.length >= 3, `${during.length} were missed while it was away`)
  } finally {
    for (const client of clients) await client.close()
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
})
