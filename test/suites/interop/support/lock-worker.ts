/**
 * Takes and gives back a lock, or one of several places, or takes of a rate, for some seconds, and tells each step as a JSON
 * line, as the driver's `work` does:
 * `lock-worker.js <url> <kind> <name> <options>`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AcquireOptions, Client, ClientOptions, Hold, Lock, ReadWriteLock } from 'holdfast'
import { AcquireTimeoutError, connect } from 'holdfast'
import { seeded } from '../../../support/random.js'
import type { Range, WorkEvent, WorkOptions } from './java-lock.js'
import { now } from './java-process.js'

const [url = '', kind = '', name = '', json = '{}'] = process.argv.slice(2)
const options = JSON.parse(json) as WorkOptions & { readonly ours?: ClientOptions }
const { workers, seconds, startAt = now(), seed = 1, leases = [0], timeouts = 0, aborts = 0 } = options
const end = startAt + 1000 * seconds

/** What is had of a lock, of a place, or of a rate. */
type Had = Pick<Hold, 'lost' | 'remaining' | 'release'>
type Enter = (terms: AcquireOptions, reads: boolean) => Promise<Had>

const ofLock =
  (lock: { acquire(terms: AcquireOptions): Promise<Had> }): Enter =>
  (terms) =>
    lock.acquire(terms)

const ofSides =
  ({ read, write }: ReadWriteLock): Enter =>
  (terms, reads) =>
    (reads ? read : write).acquire(terms)

const members = (client: Client, count: number): Lock[] =>
  Array.from({ length: count }, (_, place) => client.lock(`${name}:${place}`))

const kinds: Record<string, (client: Client) => Enter> = {
  plain: (client) => ofLock(client.lock(name)),
  nonReentrant: (client) => ofLock(client.nonReentrantLock(name)),
  spin: (client) => ofLock(client.spinLock(name)),
  fenced: (client) => ofLock(client.fencedLock(name)),
  fair: (client) => ofLock(client.fairLock(name)),
  nonReentrantFair: (client) => ofLock(client.nonReentrantFairLock(name)),
  keyed: (client) => ofLock(client.keyedLock(name, kind.split(':')[1]?.split(',') ?? [])),
  multi: (client) => ofLock(client.multiLock(...members(client, 2))),
  red: (client) => ofLock(client.redLock(...members(client, 3))),
  read: (client) => ofLock(client.readWriteLock(name).read),
  write: (client) => ofLock(client.readWriteLock(name).write),
  fairRead: (client) => ofLock(client.readWriteLock(name, { fair: true }).read),
  fairWrite: (client) => ofLock(client.readWriteLock(name, { fair: true }).write),
  readWrite: (client) => ofSides(client.readWriteLock(name)),
  fairReadWrite: (client) => ofSides(client.readWriteLock(name, { fair: true })),
  semaphore: (client) => async (terms) => {
    const semaphore = client.semaphore(name)
    await semaphore.acquire({ wait: terms.wait, signal: terms.signal })
    return { lost: false, remaining: () => Infinity, release: () => semaphore.release().then(() => true) }
  },
  limiter: (client) => async (terms) => {
    await client.rateLimiter(name).acquire({ wait: terms.wait, signal: terms.signal })
    return { lost: false, remaining: () => Infinity, release: () => Promise.resolve(true) }
  },
  permits: (client) => (terms) =>
    client.permitSemaphore(name).acquire(terms.lease === undefined ? { ...terms, renew: true } : terms),
}

const tell = (event: WorkEvent): void => void process.stdout.write(`${JSON.stringify(event)}\n`)

/** JSON knows no infinity. */
const until = (hold: Had): number => now() + Math.min(hold.remaining(), 1e9)

const worker = async (enter: Enter, index: number): Promise<void> => {
  const random = seeded(seed * 1000 + index)
  const between = ([least, most]: Range): number => least + random() * (most - least)
  const say = (event: WorkEvent['event'], more: Partial<WorkEvent> = {}): void =>
    tell({ worker: `w${index}`, event, at: now(), ...more })

  const acquire = async (lease: number, reads: boolean): Promise<Had | undefined> => {
    const draw = random()
    const wait = draw < timeouts ? between(options.wait ?? [10, 10]) : undefined
    const abort = draw >= timeouts && draw < timeouts + aborts ? new AbortController() : undefined
    const alarm = abort && setTimeout(() => abort.abort('abort'), between(options.abortAfter ?? [10, 10]))
    try {
      return await enter({ wait, signal: abort?.signal, ...(lease > 0 && { lease }) }, reads)
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
    const reads = options.reads !== undefined && random() < options.reads
    say('invoke', { lease, mode: reads ? 'read' : 'write' })
    const hold = await acquire(lease, reads)
    if (hold === undefined) return
    say('granted', { lease, until: until(hold) })
    await sleep(between(options.hold ?? [1, 1]))
    // Asked once: the process may be stopped just here.
    const { lost } = hold
    say(lost ? 'lost' : 'checked', { until: until(hold) })
    if (lost) return void hold.release()
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
const enter = kinds[kind.split(':')[0] ?? '']?.(client)
if (enter === undefined) throw new Error(`no such kind: ${kind}`)
await Promise.all(Array.from({ length: workers }, (_, index) => worker(enter, index)))
await client.close()
