import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hold } from 'holdfast'
import type { Redis } from 'ioredis'
import { fencingCounter } from '#src/keys.js'
import { kinds } from '../../contract/kinds.js'
import { rejection } from '../../contract/lock/kind.js'
import { onServer } from '../../../support/server.js'

/** More than one renewal takes. */
const HOLDS = 300
const LEASE = 1500
const FAR = '9223372036854775807'
const STRANGE = [
  '9007199254740993',
  '9223372036854775808',
  '1e308',
  '-1',
  'nan',
  'inf',
  '',
  '1.5',
  'text',
  '9'.repeat(5000),
]

/** What another program does to the keys of a hold. */
const tamperings: readonly ((redis: Redis, keys: readonly string[]) => Promise<unknown>)[] = [
  (redis, keys) => Promise.all(keys.map((key) => redis.call('PEXPIREAT', key, FAR))),
  (redis, keys) => Promise.all(keys.map((key) => redis.persist(key))),
  ...STRANGE.map((text) => async (redis: Redis, keys: readonly string[]) => {
    for (const key of keys) {
      if ((await redis.type(key)) !== 'hash') continue
      for (const [field, value] of Object.entries(await redis.hgetall(key)))
        if (/^\d+$/.test(value)) await redis.hset(key, field, text)
    }
  }),
  ...(['SET', 'RPUSH', 'SADD'] as const).map((command) => async (redis: Redis, keys: readonly string[]) => {
    for (const key of keys) await redis.multi().del(key).call(command, key, 'text').exec()
  }),
]

for (const kind of kinds) {
  if (kind.several === true || kind.mode === 'write') continue
  onServer(
    `${kind.name}: ${HOLDS} holds, and another program changes the keys of some → all others stay held`,
    async (it) => {
      const client = await it.open({ watchdog: LEASE, ...kind.options })
      const holds: Hold[] = []
      for (let i = 0; i < HOLDS; i++) holds.push(await kind.make(client, `lock-${1000 + i}`).acquire())
      const doubted: string[] = []
      client.on('uncertain', ({ name }) => doubted.push(name))
      const strange = new Set<number>()
      for (const [i, tamper] of tamperings.entries()) {
        const place = 3 + 19 * i
        strange.add(place)
        await tamper(it.redis, await it.redis.keys(`*lock-${1000 + place}*`))
      }
      await sleep(2 * LEASE)
      const names = new Set([...strange].map((place) => `lock-${1000 + place}`))
      assert.deepEqual(
        doubted.filter((name) => !names.has(name)),
        [],
        'in doubt',
      )
      const others = holds.filter((_, place) => !strange.has(place))
      assert.deepEqual(
        others.filter(({ state }) => state !== 'held').map(({ name }) => name),
        [],
      )
    },
  )
}

onServer('a fencing counter that is no number → no hold, an error, and nothing is left', async ({ open, redis }) => {
  const client = await open()
  for (const text of ['', '-5', 'nan', '1.5', '9223372036854775807', '9223372036854775808', 'text', '9'.repeat(5000)]) {
    await redis.set(fencingCounter('f'), text)
    const error = await rejection(client.fencedLock('f').acquire({ wait: 0 }))
    assert.match(String(error), /a fencing counter that is not a whole number below/, text)
    assert.equal(await redis.exists('f'), 0, text)
    // That one is the last token that there is; the others are none, and looking does not mind.
    const last = text === '9223372036854775807' ? BigInt(text) : undefined
    const { holders, token } = await client.fencedLock('f').inspect()
    assert.deepEqual([holders, token], [[], last], text)
  }
})
