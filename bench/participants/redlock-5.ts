import { Redis } from 'ioredis'
import { requirePeer, versionOf } from '../base/paths.js'
import type { Held, Participant } from './participant.js'

interface Redlock {
  acquire(resources: readonly string[], duration: number): Promise<Held>
  using(resources: readonly string[], duration: number, work: (signal: AbortSignal) => Promise<void>): Promise<void>
  on(event: 'error', listener: (error: Error) => void): void
}

export type RedlockClass = new (clients: readonly Redis[], settings: object) => Redlock

/**
 * README, "Configuration": without a limit to its attempts, `retryDelay` as short as a timer goes, since it polls, with
 * as much jitter; or longer with half as much, its defaults, where a scenario says so; else as it comes. `acquire` and `release` are its quickest way; `using`, which extends the lock, where
 * locks are to be kept.
 */
const settingsOf = (pollMs: number): object => ({
  ...{ retryCount: -1, retryDelay: pollMs, retryJitter: Math.ceil(pollMs / 2) },
})

/** Keeps a lock by `using` until it is told to let go. */
const kept = (redlock: Redlock, key: string, lease: number, lost: () => void): Promise<Held> =>
  new Promise((resolve, reject) => {
    let leave = (): void => undefined
    const work = new Promise<void>((done) => (leave = done))
    const over = redlock.using([key], lease, (signal) => {
      signal.addEventListener('abort', lost)
      resolve({
        release() {
          leave()
          return over
        },
      })
      return work
    })
    over.catch(reject)
  })

/** redlock 5 and what derives from it. */
export const openRedlock = async (Class: RedlockClass, url: string, lease: number, pollMs = 1) => {
  const client = new Redis(url)
  // Connected, as ours is when it is open.
  await client.ping()
  const redlock = new Class([client], settingsOf(pollMs))
  // With all its defaults: where attempts have no limit, an extension that fails is never given up.
  const keeping = new Class([client], {})
  let troubles = 0
  // Without a listener it would throw; that a lock is taken is told here, too.
  for (const one of [redlock, keeping]) one.on('error', () => undefined)
  return {
    lock: (_kind: unknown, key: string) => ({ acquire: () => redlock.acquire([key], lease) }),
    kept: (key: string) => ({ acquire: () => kept(keeping, key, lease, () => troubles++) }),
    troubles: () => troubles,
    intact: () => true,
    close: () => client.disconnect(),
  }
}

export const redlock5: Participant = {
  name: 'redlock 5',
  family: 'redlock 5',
  file: 'bench/participants/redlock-5.ts',
  setup:
    'acquire and release, on ioredis, one server; duration 30 s, retryCount -1, retryDelay and retryJitter 1 ms, in P longer; `using`, which extends, in R',
  kinds: ['lock'],
  waits: true,
  memory: false,
  renews: true,
  keyOf: (name) => name,
  direct: [],
  version: () => versionOf('bench/peers/node_modules/redlock'),
  open: (url, lease = 30_000, pollMs = 1) =>
    openRedlock((requirePeer('redlock') as { default: RedlockClass }).default, url, lease, pollMs),
}
