import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { PATIENCE } from '../base/load.js'
import type { Figures } from '../base/result.js'
import { machineTime } from '../base/stats.js'
import type { Participant } from '../participants/participant.js'
import { Child } from '../processes/child.js'
import type { HolderMessage, Looked } from '../processes/holder.js'
import type { Bench } from './bench.js'

/** ms. Long enough for a busy machine to renew it. */
const LEASE = 2000
const LEASES = 3
/** ms of lease of the hold that costs something while nothing happens. */
const USUAL = 30_000
/** ms until a process that has just acquired its lock has settled. */
const SETTLES = 3000

const ask = (child: Child, message: HolderMessage): Promise<number> => child.ask(message) as Promise<number>

/** Resolves when the server has so many connections more than before. */
const connected = async (redis: Redis, before: number, more: number): Promise<void> => {
  for (const until = Date.now() + PATIENCE; (await connectionsOf(redis)) < before + more; await sleep(10)) {
    if (Date.now() > until) throw new Error('the thread does not connect')
  }
}

const connectionsOf = async (redis: Redis): Promise<number> =>
  Number(/^connected_clients:(\d+)/m.exec(await redis.info('clients'))?.[1] ?? NaN)

/** A process that has the lock. */
const holderOf = async (url: string, redis: Redis, { name }: Participant, lease: number): Promise<Child> => {
  const before = await connectionsOf(redis)
  const child = await Child.open('holder.js', [name, url, `bench:b:${lease}`, String(lease)])
  await ask(child, 'take')
  if (name.includes('thread')) await connected(redis, before, 2)
  return child
}

/** The holder's event loop is blocked for three leases while another process waits. `kept`: it has the lock still. `overlap`: ms in which both thought so. */
const blocked = async (url: string, redis: Redis, participant: Participant): Promise<Figures> => {
  const children: Child[] = []
  try {
    const holder = await holderOf(url, redis, participant, LEASE)
    children.push(holder)
    const rival = await Child.open('holder.js', [participant.name, url, `bench:b:${LEASE}`, String(LEASE)])
    children.push(rival)
    const rivalHas = ask(rival, 'wait')
    rivalHas.catch(() => undefined)
    const { sure, over } = (await holder.ask({ block: LEASES * LEASE })) as Looked
    // It runs again before it is asked to release.
    await sleep(LEASE / 4)
    const lost = (await ask(holder, 'learned')) > 0
    const released = machineTime()
    await ask(holder, 'free')
    const had = await rivalHas
    const until = lost ? sure : Math.max(sure, released)
    return { kept: !lost && sure > over - 1000 * LEASE ? 1 : 0, overlap: Math.max(0, until - had) / 1000 }
  } finally {
    await Promise.all(children.map((child) => child.kill()))
    await redis.flushall()
  }
}

/** A process that holds one lock and does nothing: its CPU, in % of a core, and its memory, in MB. */
const idle = async (url: string, redis: Redis, participant: Participant, seconds: number): Promise<Figures> => {
  const holder = await holderOf(url, redis, participant, USUAL)
  try {
    await sleep(SETTLES)
    const [cpu, from] = [await ask(holder, 'cpu'), machineTime()]
    await sleep(seconds * 1000)
    const spent = (await ask(holder, 'cpu')) - cpu
    return { cpu: (100 * spent) / (machineTime() - from), memory: (await ask(holder, 'memory')) / 1000 }
  } finally {
    await holder.kill()
    await redis.flushall()
  }
}

export const blockedHolder = async ({ server }: Bench, who: Participant, seconds: number): Promise<Figures> => {
  const { url } = server!.redis
  const redis = new Redis(url)
  try {
    return { ...(await blocked(url, redis, who)), ...(await idle(url, redis, who, seconds)) }
  } finally {
    redis.disconnect()
  }
}
