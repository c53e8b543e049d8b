/**
 * One client process of the soak: takes, keeps and gives back locks until told to end.
 * `worker.js <process> <url> <log file> <seed> <workers>`; orders come from the parent.
 */
import { subscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AcquireOptions, Hold, Lock } from 'holdfast'
import { AcquireTimeoutError, connect, EngineError, LockLostError } from 'holdfast'
import { seeded } from '../../support/random.js'
import { Log, machineTime } from './log.js'
import { isFair, isReentrant, LOCKS, LONGEST_LEASE } from './settings.js'

export type Order = { readonly block: number } | 'finish'

const [name = '', url = '', file = '', seed = '1', workers = '8'] = process.argv.slice(2)
const random = seeded(Number(seed))
const log = new Log(file)
const between = (least: number, most: number): number => Math.floor(least + random() * (most - least))
const leaving = new AbortController()
let finishing = false
let calls = 0

process.on('disconnect', () => process.exit(1))
process.on('message', (order: Order) => {
  if (order === 'finish') {
    finishing = true
    setTimeout(() => leaving.abort(new Error('waited for too long at the end')), 12_000).unref()
  } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.block)
})

const connected = async (): Promise<Awaited<ReturnType<typeof connect>>> => {
  for (;;) {
    try {
      return await connect({ url, watchdog: LONGEST_LEASE, commandTimeout: 1000, label: name })
    } catch (error) {
      if (!(error instanceof EngineError) || finishing) throw error
      await sleep(100)
    }
  }
}

const client = await connected()
client.on('error', () => undefined)

/** Who was granted each lock last, as the server knows him. */
const wires = new Map<string, string>()
subscribe('holdfast:grant', (message) => {
  const { name, owner } = message as { name: string; owner: string }
  wires.set(name, owner)
})

const termsOf = (): { options: AcquireOptions; lease: number; abort: AbortController } => {
  const lease = random() < 0.5 ? between(300, LONGEST_LEASE) : undefined
  const dice = random()
  const wait = dice < 0.15 ? undefined : dice < 0.4 ? 8000 : between(50, 3000)
  const abort = new AbortController()
  const signal = AbortSignal.any([abort.signal, leaving.signal])
  return { options: { lease, wait, signal }, lease: lease ?? LONGEST_LEASE, abort }
}

/** Mostly short, now and then about as long as the lease, or so that it must be renewed. */
const timeToHold = (lease: number | undefined): number => {
  if (random() < 0.94) return between(0, 30)
  return lease === undefined ? between(400, 2 * LONGEST_LEASE) : lease * (0.7 + 0.6 * random())
}

/** Asks it again and again for its time; false: it was lost. */
const keep = async (hold: Hold, call: number, ms: number): Promise<boolean> => {
  const end = machineTime() + ms
  for (let at = machineTime(); ; at = machineTime()) {
    const until = at + hold.remaining()
    log.tell(at, 'checked', { call, lock: hold.name, until })
    if (until <= at) {
      if (!hold.signal.aborted) throw new Error('no time is left, and the signal has not fired')
      return false
    }
    if (at >= end) return true
    await sleep(Math.min(25, end - at))
  }
}

const refusal = (error: unknown): string => {
  const expected =
    error instanceof AcquireTimeoutError || error instanceof EngineError || error instanceof LockLostError
  if (expected) return error.code
  if (error instanceof Error && error.message.startsWith('waited ')) return error.message
  throw error
}

const visit = async (lock: Lock, call: number): Promise<void> => {
  const { options, lease, abort } = termsOf()
  const mine = { call, lock: lock.name }
  const changesMind =
    random() < 0.1 ? setTimeout(() => abort.abort(new Error('waited enough')), between(0, 500)) : undefined
  log.tell(machineTime(), 'invoke', { ...mine, lease })
  let hold: Hold
  try {
    hold = await lock.acquire(options)
  } catch (error) {
    log.tell(machineTime(), 'refused', { ...mine, why: refusal(error) })
    return
  } finally {
    clearTimeout(changesMind)
  }
  const at = machineTime()
  log.tell(at, 'granted', { ...mine, until: at + hold.remaining(), wire: wires.get(lock.name) })
  const kept = await keep(hold, call, timeToHold(options.lease))
  if (kept) log.tell(machineTime(), 'releasing', mine)
  const released = await hold.release()
  log.tell(machineTime(), released && kept ? 'released' : 'lost', mine)
}

const lockOf = (lockName: string): Lock => {
  if (isFair(lockName)) return isReentrant(lockName) ? client.fairLock(lockName) : client.nonReentrantFairLock(lockName)
  return isReentrant(lockName) ? client.lock(lockName) : client.nonReentrantLock(lockName)
}

const work = async (): Promise<void> => {
  while (!finishing) {
    await visit(lockOf(LOCKS[between(0, LOCKS.length)] ?? ''), (calls += 1))
    await sleep(between(0, 120))
  }
}

await Promise.all(Array.from({ length: Number(workers) }, work))
await client.close()
process.exit(0)
