import assert from 'node:assert/strict'
import { onStage } from '../../support/stage.js'

const KEYS = ['{f}:flight:a', '{f}:flights:token']

onStage('the clock of the server is set back by half a second → a value from before is not new', async (stage) => {
  const { client, raw, run } = stage
  const flight = client.flight('f')
  await run(flight.run('a', { ttl: 60_000 }, () => 'old'))
  const [record = ''] = KEYS
  raw('HSET', record, 'ended', Number(raw('HGET', record, 'ended')) + 500)
  const kept = await run(flight.run('a', { ttl: 1 }, () => assert.fail('it is kept')))
  assert.deepEqual([kept.value, kept.age], ['old', 0])
  const { value, shared } = await run(flight.run('a', () => 'new'))
  assert.deepEqual([value, shared], ['new', false])
  raw('DEL', ...(raw('KEYS', '*') as string[]))
})

onStage('work ends after its client has closed → its call rejects, and no error is reported', async (stage) => {
  const { client, clock, errors, raw, run } = stage
  let end: (value: string) => void = () => undefined
  const call = client.flight('f').run('a', () => new Promise<string>((resolve) => (end = resolve)))
  const failed = assert.rejects(call, { code: 'CLOSED' })
  await clock.advance(50)
  await run(client.close())
  end('late')
  await clock.advance(1000)
  await run(failed)
  assert.deepEqual(errors, [])
  raw('DEL', ...(raw('KEYS', '*') as string[]))
})
