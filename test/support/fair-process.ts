/**
 * A process that waits for a lock, and is told what to do: `fair-process.js <process> <url> <watchdog> <ms that its wall
 * clock is off> <kind> <lock> <whether replicas are waited for>`. Each step of each call goes to the parent.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FencedHold } from 'holdfast'
import { connect } from 'holdfast'
import type { CallEvent, CallStep } from 'holdfast/testing'
import { systemClock } from '#src/base/clock.js'
import { machineTime } from '../suites/soak/log.js'

export type Order =
  /** Held until told otherwise, or for no longer than it takes to say so. */
  | {
      readonly acquire: string
      readonly keep: boolean
      readonly lease?: number | undefined
      /** Where it is not kept: how long it is held all the same, ms. */
      readonly stay?: number | undefined
      /** Of a read-write lock: to read. */
      readonly shared?: boolean | undefined
    }
  | { readonly release: string }
  | 'end'

const [name = '', url = '', watchdog = '', off = '0', kind = 'fairLock', lockName = '', sync = 'true'] =
  process.argv.slice(2)
const clock = { ...systemClock, now: () => systemClock.now() + Number(off) }
const client = await connect({
  ...{ url, watchdog: Number(watchdog), clock, presence: false, commandTimeout: 1000 },
  replicas: { sync: sync === 'true' },
})
client.on('error', () => undefined)
const lockOf = (shared: boolean) => {
  if (kind === 'readWriteLock') return client.readWriteLock(lockName, { fair: true })[shared ? 'read' : 'write']
  return client[kind as 'fairLock' | 'nonReentrantFairLock' | 'lock' | 'fencedLock'](lockName)
}
type Visit = Extract<Order, { readonly acquire: string }>
const readers = new Set<string>()
const releases = new Map<string, () => void>()

const tell = (what: CallStep, call: string, at = machineTime(), until?: number, token?: string): void => {
  const mode = readers.has(call) ? 'shared' : 'exclusive'
  process.send?.({ at, what, process: name, call, name: lockName, mode, until, token } satisfies CallEvent)
}

const visit = async ({ acquire: call, keep, lease, stay = 0, shared = false }: Visit): Promise<void> => {
  if (shared) readers.add(call)
  tell('invoke', call)
  let hold
  try {
    hold = await lockOf(shared).acquire({ lease })
  } catch {
    tell('refused', call)
    return
  }
  const at = machineTime()
  tell('granted', call, at, at + hold.remaining(), (hold as Partial<FencedHold>).token?.toString())
  if (keep) {
    const { signal } = hold
    const ended = new Promise<void>((resolve) => {
      releases.set(call, resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const checks = setInterval(() => {
      const now = machineTime()
      const until = now + hold.remaining()
      if (until > now) tell('checked', call, now, until)
    }, 50)
    await ended
    clearInterval(checks)
  } else if (stay > 0) await sleep(stay)
  const kept = !hold.lost
  if (kept) tell('releasing', call)
  tell((await hold.release()) && kept ? 'released' : 'lost', call)
}

process.on('disconnect', () => process.exit(1))
process.on('message', (order: Order) => {
  if (order === 'end') {
    // Nothing is left that would keep this process.
    void client.close().then(() => {
      process.removeAllListeners('disconnect')
      process.disconnect()
    })
  } else if ('release' in order) releases.get(order.release)?.()
  else void visit(order)
})
process.send?.('ready')
