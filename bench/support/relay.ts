/**
 * One of the two that hand a lock to each other, with nothing but our scripts and the bare client: `relay.js URL PLACE TURNS`.
 * Answers when it had the lock, and when it freed it.
 */
import { Redis } from 'ioredis'
import { lockAcquire, lockRelease } from '#src/lua/scripts.gen.js'
import { holding } from './hold.js'
import { machineTime } from './stats.js'
import { KEY, type Turns } from './switch.js'

const [url = '', place = '0', times = '0'] = process.argv.slice(2)
const channel = `redisson_lock__channel:{${KEY}}`
const client = new Redis(url)
const ear = new Redis(url)
const hold = holding(2)
const turns: Turns = { had: [], freed: [] }
let left = Number(times)
let heard = 0

const turn = async (): Promise<void> => {
  if ((await client.evalsha(lockAcquire.sha, 1, KEY, place, 30_000)) !== null) throw new Error('taken')
  turns.had.push(machineTime())
  await hold()
  turns.freed.push(machineTime())
  await client.evalsha(lockRelease.sha, 2, KEY, channel, place, 'PUBLISH')
  if (--left === 0) process.send?.(turns)
}

// Each hears both: it is woken by the other's release, and its own is no news.
ear.on('message', () => {
  if (heard++ % 2 !== Number(place) && left > 0) void turn()
})
process.on('message', (message: 'start' | 'end') => {
  if (message === 'end') process.exit()
  if (place === '0') void turn()
})

await client.script('LOAD', lockAcquire.text)
await client.script('LOAD', lockRelease.text)
await ear.subscribe(channel)
process.send?.('ready')
