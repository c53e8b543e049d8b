/**
 * Takes and gives back a lock for some seconds, and tells each step as a JSON line, as the driver's `work` does:
 * `lock-worker.js <url> <kind> <name> <options>`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientOptions, Hold, Lock } from 'holdfast'
import { AcquireTimeoutError, connect } from 'holdfast'
import { seeded } from '../../support/random.js'
import type { Range, WorkEvent, WorkOptions } from './java-lock.js'
import { now } from './java-process.js'

const [url = '', kind = '', name = '', json = '{}'] = process.argv.slice(2)
const options = JSON.parse(json) as WorkOptions & { readonly ours?: ClientOptions }
const { workers, seconds, startAt = now(), seed = 1, leases = [0], timeouts = 0, aborts = 0 } = options
const end = startAt + 1000 * seconds

const kinds: Record<string, (client: Client) => Lock> = {
  plain: (client) => client.lock(name),
  nonReentrant: (client) => client.nonReentrantLock(name),
  fair: (client) => client.fairLock(name),
  read: (client) => client.readWriteLock(name).read,
  write: (client) => client.readWriteLock(name).write,
}

const tell = (event: WorkEvent): void => void process.stdout.write(`${JSON.stringify(event)}\n`)

const worker = async (lock: Lock, index: number): Promise<void> => {
  const random = seeded(seed * 1000 + index)
  const between = ([least, most]: Range): number => least + random() * (most - least)
  const say = (event: WorkEvent['event'], more: Partial<WorkEvent> = {}): void =>
    tell({ worker: `w${index}`, event, at: now(), ...more })

  const acquire = async (lease: number): Promise<Hold | undefined> => {
    const draw = random()
    const wait = draw < timeouts ? between(options.wait ?? [10, 10]) : undefined
    const abort = draw >= timeouts && draw < timeouts + aborts ? new AbortController() : undefined
    const alarm = abort && setTimeout(() => abort.abort('abort'), between(options.abortAfter ?? [10, 10]))
    try {
      return await lock.acquire({ wait, signal: abort?.signal, ...(lease > 0 && { lease }) })
    } catch (error) {
      const reason = error instanceof AcquireTimeoutError ? 'timeout' : String(error)
      say('refused', { reason })
      return undefined
    } finally {
      clearTimeout(alarm)
    }
  }

  const visit = async (): Promise<void> => {
    const lease = leases[Math.floor(random() * leases.length)] ?? 0
    say('invoke', { lease })
    const hold = await acquire(lease)
    if (hold === undefined) return
    say('granted', { lease, until: now() + hold.remaining() })
    await sleep(between(options.hold ?? [1, 1]))
    const until = now() + hold.remaining()
    say(hold.lost ? 'lost' : 'checked', { until })
    if (hold.lost) return void hold.release()
    say('releasing')
    const released = await hold.release()
    say(released ? 'released' : 'failed')
  }

  await sleep(Math.max(0, startAt - now()))
  while (now() < end) {
    await visit()
    if (options.pause !== undefined) await sleep(between(options.pause))
  }
}

const client = await connect({ ...options.ours, url, presence: false })
const lock = kinds[kind]?.(client)
if (lock === undefined) throw new Error(`no such kind: ${kind}`)
await Promise.all(Array.from({ length: workers }, (_, index) => worker(lock, index)))
await client.close()
