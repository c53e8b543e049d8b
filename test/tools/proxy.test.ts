import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { seeded } from '../support/random.js'
import { withoutMessages } from '../support/resp.js'
import { onServer } from '../support/server.js'

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`
const array = (...parts: string[]): string => `*${parts.length}\r\n${parts.join('')}`
const SUBSCRIBED = array(bulk('subscribe'), bulk('c'), ':1\r\n')
const SHARDED = array(bulk('ssubscribe'), bulk('c'), ':1\r\n')
const MESSAGE = array(bulk('message'), bulk('c'), bulk('0\r\n*3\r\n$7\r\nmessage\r\n'))
const SMESSAGE = array(bulk('smessage'), bulk('c'), bulk(''))
const OTHERS = [
  '+OK\r\n',
  '-ERR no\r\n',
  ':-5\r\n',
  '$-1\r\n',
  '*-1\r\n',
  '*0\r\n',
  bulk('*3\r\né'),
  array(array(), ':1\r\n'),
]

void test('messages cut out of a stream, however it is chopped → all else is there, byte for byte', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seeded(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const parts = Array.from({ length: 20 }, () => pick([...OTHERS, MESSAGE, SMESSAGE]))
    const expected = parts.filter((part) => part !== MESSAGE && part !== SMESSAGE)
    const first = pick([SUBSCRIBED, SHARDED])
    const stream = Buffer.from([first, ...parts].join(''))
    let dropped = 0
    const filter = withoutMessages(() => {
      dropped += 1
      return false
    })
    const out: Buffer[] = []
    for (let at = 0; at < stream.length;) {
      const end = at + 1 + Math.floor(random() * (seed % 3 === 0 ? 4 : 60))
      out.push(filter(stream.subarray(at, end)))
      at = end
    }
    assert.equal(Buffer.concat(out).toString(), [first, ...expected].join(''), `seed ${seed}`)
    assert.equal(dropped, parts.length - expected.length)
  }
})

void test('a reply that looks like a message, where nobody subscribed → passes', () => {
  const filter = withoutMessages(() => false)
  assert.equal(filter(Buffer.from(MESSAGE)).toString(), MESSAGE)
})

onServer('a proxy that is silent → subscribing and commands pass, messages do not', async ({ proxy, redis, until }) => {
  const listener = new Redis(proxy.url, { protocol: 2, retryStrategy: () => null })
  const heard: string[] = []
  listener.on('message', (_channel: string, payload: string) => heard.push(payload))
  await listener.subscribe('c')
  await redis.publish('c', 'one')
  await until(() => heard.length === 1)
  proxy.silent = true
  await redis.publish('c', 'two')
  assert.equal(await listener.subscribe('d'), 2)
  proxy.silent = false
  await redis.publish('c', 'three')
  await listener.unsubscribe('d')
  assert.deepEqual(heard, ['one', 'three'])
  assert.equal(proxy.silenced, 1)
  listener.disconnect()
})

onServer('what is held and delayed → arrives in its order; an unheard command was done', async ({ proxy, redis }) => {
  const client = new Redis(proxy.url, { protocol: 2, retryStrategy: () => null, maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  await client.ping()
  proxy.held = 'requests'
  const first = client.incr('n')
  await sleep(100)
  assert.equal(await redis.get('n'), null)
  proxy.held = 'replies'
  const second = client.incr('n')
  await sleep(100)
  assert.equal(await redis.get('n'), '2')
  proxy.delay = 100
  proxy.held = 'nothing'
  proxy.delay = 0
  const third = client.incr('n')
  assert.deepEqual(await Promise.all([first, second, third]), [1, 2, 3])
  proxy.cutInsteadOfReply()
  await assert.rejects(client.incr('n'))
  assert.equal(await redis.get('n'), '4')
})
