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

onStage('a stored value is reused → also one that the clock of the server puts far into the future', async (stage) => {
  const { client, raw, run } = stage
  const flight = client.flight('f')
  const [record = ''] = KEYS
  await run(flight.run('a', { ttl: 60_000 }, () => 'old'))
  raw('HSET', record, 'ended', Number(raw('HGET', record, 'ended')) + 3_600_000)
  const kept = await run(flight.run('a', { ttl: 60_000, reuse: 'stored' }, () => assert.fail('it is stored')))
  assert.deepEqual([kept.value, kept.shared, kept.age], ['old', true, 0])
  // However old it looks, it is not computed again in the background.
  raw('HSET', record, 'ended', 1)
  const old = await run(flight.run('a', { ttl: 1, reuse: 'stored' }, () => assert.fail('it is stored')))
  assert.deepEqual([old.value, old.shared], ['old', true])
  const other = client.flight('f', { codec: { encode: String, decode: () => assert.fail('another format') } })
  const unread = other.run('a', { ttl: 60_000, reuse: 'stored' }, () => assert.fail('nobody can read what is stored'))
  await run(assert.rejects(unread, { code: 'WRONG_KIND' }))
  raw('HSET', record, 'state', 'odd')
  const odd = flight.run('a', { ttl: 60_000, reuse: 'stored' }, () => assert.fail('nobody can read what is stored'))
  await run(assert.rejects(odd, { code: 'WRONG_KIND' }))
  assert.equal((await run(flight.run('a', { ttl: 60_000 }, () => 'new'))).value, 'new')
  await run(
    assert.rejects(
      flight.run('a', { reuse: 'old' as never }, () => 1),
      TypeError,
    ),
  )
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
