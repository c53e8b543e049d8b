import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client, Leader } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import type { Reply } from '#src/lua/values.js'

const KEY = 'e'
const RECORD = 'holdfast_leader:{e}'
const CHANNEL = 'holdfast_leader_change:{e}'
const STRANGER = '22222222-2222-4222-8222-222222222222:7'

let stages = 0

/** Two processes: one leads, the other observes, and all that it sees is written down. The server is asked by `raw` beside them. */
const stage = async () => {
  const clock = virtualClock(1)
  const server = openMemoryServer(`observer ${stages++}`, clock)
  const quiet = (): void => undefined
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const options = settle({ url: 'memory:', clock, presence: false, logger }, {})
  const one = await start(options, new MemoryDriver(server, undefined))
  const other = await start(options, new MemoryDriver(server, undefined))
  const aside = new MemoryDriver(server, undefined)
  const spare = await start(options, aside)
  const raw = (...words: (string | number)[]): Promise<Reply> => aside.send(words.map(String))
  const seen: (Leader | undefined)[] = []
  const stop = new AbortController()
  const loop = (async () => {
    for await (const leader of other.election(KEY).observe({ signal: stop.signal })) seen.push(leader)
  })().catch(quiet)
  await clock.advance(50)
  /** It leads until its work is stopped. */
  const lead = async (client: Client = one) => {
    const resign = new AbortController()
    const led = client.election(KEY).lead({ signal: resign.signal, value: 1 }, async ({ signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    })
    await clock.advance(50)
    return async () => {
      resign.abort()
      await clock.advance(50)
      await led
    }
  }
  const publish = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) void raw('PUBLISH', CHANNEL, '0')
    await clock.advance(50)
  }
  const write = async (owner: string, record: Record<string, string | number>): Promise<void> => {
    await raw('HSET', KEY, owner, 1)
    await raw(
      'HSET',
      RECORD,
      'owner',
      owner,
      'revision',
      0,
      'form',
      'none',
      'value',
      '',
      ...Object.entries(record).flat(),
    )
    await publish(1)
  }
  const end = async (): Promise<void> => {
    stop.abort()
    await clock.advance(50)
    await loop
    const closed = Promise.all([one.close(), other.close(), spare.close()])
    await clock.advance(5000)
    await closed
  }
  return { clock, one, raw, seen, lead, publish, write, end }
}

void test('very many messages before a look → the next leader is shown soon', async () => {
  const { clock, one, seen, lead, publish, end } = await stage()
  await publish(20_000)
  await clock.advance(200)
  const resign = await lead()
  assert.equal(seen.at(-1)?.client, one.id)
  await resign()
  assert.equal(seen.at(-1), undefined)
  await end()
})

void test('a leader from the future, which is gone → the one after it is shown', async () => {
  const { one, raw, seen, lead, write, publish, end } = await stage()
  await (
    await lead()
  )()
  await write(STRANGER, { term: '9999999999999999999', since: '999999999999999' })
  await raw('DEL', KEY, RECORD)
  await publish(1)
  const resign = await lead()
  assert.equal(seen.at(-1)?.client, one.id)
  await resign()
  await end()
})

void test('the server names an older leader than before → shown when that one renews its lease, and not before', async () => {
  const { clock, raw, seen, write, end } = await stage()
  const now = clock.now()
  await write(STRANGER, { term: 5, since: now })
  assert.equal(seen.at(-1)?.term, 5n)
  await raw('PEXPIRE', KEY, 20_000)
  await write(STRANGER, { term: 4, since: now - 1000 })
  await clock.advance(12_000)
  assert.equal(seen.at(-1)?.term, 5n)
  await raw('PEXPIRE', KEY, 20_000)
  await clock.advance(5000)
  assert.equal(seen.at(-1)?.term, 4n)
  await end()
})
