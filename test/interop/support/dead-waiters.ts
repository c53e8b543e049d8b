import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { now, type Redisson, startRedisson } from './redisson.js'

const queued = async (redis: Redis, name: string, length: number): Promise<void> => {
  const end = now() + 20_000
  while ((await redis.llen(`redisson_lock_queue:{${name}}`)) < length) {
    if (now() > end) throw new Error(`no queue of ${length}`)
    await sleep(5)
  }
}

export interface Deaths {
  /** Where the doomed wait, and how many of them. */
  readonly url: string
  readonly version: string
  readonly options: Readonly<Record<string, unknown>>
  readonly dead: number
}

/** So many waiters of Redisson's are killed at the head of a fair queue: ms from the release until the living one behind. */
export const untilTheLiving = async (redis: Redis, holder: Redisson, deaths: Deaths): Promise<number> => {
  const name = `dead:${deaths.version}:${deaths.dead}`
  const doomed = await startRedisson(deaths)
  await holder.fair(name).lock(1)
  for (let thread = 1; thread <= deaths.dead; thread += 1) {
    doomed
      .fair(name)
      .lock(thread)
      .catch(() => undefined)
    await queued(redis, name, thread)
  }
  const living = holder.fair(name).lock(2)
  await queued(redis, name, deaths.dead + 1)
  await doomed.kill()
  const released = (await holder.fair(name).unlock(1).times()).start
  const { end } = await living.times()
  await holder.fair(name).unlock(2)
  return end - released
}
