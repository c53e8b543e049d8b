/**
 * One of those who hand something to each other: a lock, with nothing but our scripts and the bare client; or no more than
 * the word. `relay.js URL PLACE TURNS PLAN`. Answers when it had it, and when it gave it away.
 */
import { Redis } from 'ioredis'
import { spinLockAcquire } from '#src/lua/scripts.gen.js'
import { holding } from './hold.js'
import { machineTime } from '../base/stats.js'
import { KEY, type Relay, type Turns } from './relay-plan.js'

const [url = '', text = '0', times = '0', plan = '{}'] = process.argv.slice(2)
const place = Number(text)
const { processes, holdMs, by } = JSON.parse(plan) as Relay
const channel = `redisson_lock__channel:{${KEY}}`
/** The least that a release takes. */
const FREE = `redis.call('HDEL', KEYS[1], ARGV[1]); return redis.call('PUBLISH', ARGV[2], '0')`

const client = new Redis(url)
const ear = new Redis(url)
const hold = holding(holdMs)
const turns: Turns = { had: [], freed: [] }
let left = Number(times)
let heard = 0

const take = async (): Promise<void> => {
  if (by === 'message') return
  if ((await client.evalsha(spinLockAcquire.sha, 1, KEY, place, 30_000)) !== 'held') throw new Error('taken')
}

const give = (): Promise<unknown> =>
  by === 'message' ? client.publish(channel, '0') : client.eval(FREE, 1, KEY, place, channel)

const turn = async (): Promise<void> => {
  await take()
  turns.had.push(machineTime())
  await hold()
  turns.freed.push(machineTime())
  const given = give()
  if (--left > 0) return
  await given
  process.send?.(turns)
}

// Each hears all: it is woken by the one before it, and the others' words are no news.
ear.on('message', () => {
  heard++
  if (heard % processes === place && left > 0) void turn()
})
process.on('message', (message: 'start' | 'end') => {
  if (message === 'end') process.exit()
  if (place === 0) void turn()
})

await client.script('LOAD', spinLockAcquire.text)
await ear.subscribe(channel)
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
process.send?.('ready')
