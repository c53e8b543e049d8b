import type { Redis } from 'ioredis'
import type { LockProcess } from './lock-process.js'
import { queued } from './names.js'

export interface Deaths {
  readonly name: string
  readonly holder: LockProcess
  /** Starts the process whose waiters die. */
  readonly doomed: () => Promise<LockProcess>
  readonly dead: number
  readonly living: LockProcess
}

/** So many waiters are killed at the head of a fair queue: ms from the release until the living one behind has it. */
export const untilTheLiving = async (redis: Redis, { name, holder, doomed, dead, living }: Deaths): Promise<number> => {
  const dying = await doomed()
  await holder.lock(name, 1)
  for (let thread = 1; thread <= dead; thread += 1) {
    dying.lock(name, thread).catch(() => undefined)
    await queued(redis, name, thread)
  }
  const granted = living.lock(name, 2)
  granted.catch(() => undefined)
  await queued(redis, name, dead + 1)
  await dying.kill()
  const { start } = await holder.unlock(name, 1)
  const { end } = await granted
  await living.unlock(name, 2)
  return end - start
}
