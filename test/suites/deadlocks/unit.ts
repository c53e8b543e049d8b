import {
  type Client,
  type Deadlock,
  DeadlockError,
  type DeadlockedCall,
  type Lock,
  LockLostError,
  AcquireTimeoutError,
} from 'holdfast'
import type { HoldSpan, Report, WaitSpan } from './truth.js'

export const KINDS = [
  ...['lock', 'fairLock', 'fencedLock', 'nonReentrantLock', 'nonReentrantFairLock', 'spinLock'],
  ...['readWriteLock', 'fairReadWriteLock', 'keyedLock', 'multiLock'],
] as const
type Kind = (typeof KINDS)[number]

/** A lock of some kind that units meet at. */
export interface Thing {
  readonly kind: Kind
  readonly name: string
}

/** One step of a unit: what it acquires, and for how long it works then before the next step. */
export interface Step {
  readonly thing: Thing
  readonly reads: boolean
  readonly keys: readonly string[]
  readonly lease: number | undefined
  readonly works: number
}

export interface Recorder {
  now(): number
  pause(ms: number): Promise<void>
  waits(span: WaitSpan): void
  holds(span: HoldSpan): void
  victim(victim: Report): void
}

const lockOf = (client: Client, { thing, reads, keys }: Step): Lock => {
  const { kind, name } = thing
  if (kind === 'keyedLock') return client.keyedLock(name, keys)
  if (kind === 'multiLock') return client.multiLock(...keys.map((key) => client.lock(`${name}/${key}`)))
  if (kind === 'readWriteLock' || kind === 'fairReadWriteLock') {
    const both = client.readWriteLock(name, { fair: kind === 'fairReadWriteLock' })
    return reads ? both.read : both.write
  }
  return client[kind](name)
}

const isParted = ({ kind }: Thing): boolean => kind === 'keyedLock' || kind === 'multiLock'

const isRead = ({ reads, thing }: Step): boolean => reads && thing.kind.toLowerCase().includes('readwrite')

const locksOf = ({ thing, keys }: Step): string[] =>
  isParted(thing) ? keys.map((key) => `${thing.name}/${key}`) : [thing.name]

export const callsOf = (cycle: readonly DeadlockedCall[]): Report['cycle'] =>
  cycle.map(({ client, name, since }) => ({ client, lock: name, since }))

export const reportOf = (client: Client, { cycle }: Deadlock, at: number): Report => ({
  at,
  by: client.id,
  cycle: callsOf(cycle),
})

/** Runs the steps, each within the one before. Ends when a call gives up, or is a victim. */
export const runUnit = async (
  client: Client,
  { unit, steps, wait }: { readonly unit: string; readonly steps: readonly Step[]; readonly wait: number },
  recorder: Recorder,
): Promise<void> => {
  const within = async (from: number): Promise<void> => {
    const step = steps[from]
    if (step === undefined) return
    const { thing, lease, works } = step
    const locks = locksOf(step)
    const shown = thing.kind === 'keyedLock' ? [thing.name] : locks
    const base = { unit, client: client.id, locks, shown, reads: isRead(step), to: Infinity }
    const waits: WaitSpan = { ...base, loose: thing.kind === 'multiLock', from: recorder.now() }
    recorder.waits(waits)
    let holds: HoldSpan | undefined
    try {
      await lockOf(client, step).using({ wait, lease }, async () => {
        waits.to = recorder.now()
        holds = { ...base, renewed: lease === undefined, from: waits.to }
        recorder.holds(holds)
        await recorder.pause(works)
        await within(from + 1)
        holds.to = recorder.now()
      })
    } finally {
      const now = recorder.now()
      waits.to = Math.min(waits.to, now)
      if (holds !== undefined) holds.to = Math.min(holds.to, now)
    }
  }
  try {
    await within(0)
  } catch (error) {
    // A fixed lease may end while the unit waits inside.
    const ended = error instanceof LockLostError && steps.some(({ lease }) => lease !== undefined)
    if (error instanceof AcquireTimeoutError || ended) return
    if (!(error instanceof DeadlockError) || error.cycle === undefined) throw error
    recorder.victim({ at: recorder.now(), by: client.id, cycle: callsOf(error.cycle) })
  }
}
