import type { Client } from '../../../api/client.js'
import type { Deadlock, DeadlockedCall } from '../../../api/deadlock.js'
import type { Hold } from '../../../api/hold.js'
import type { Lock } from '../../../api/lock.js'
import { DeadlockError } from '../../../errors.js'
import { kindOf, locksOf, type UnitStep } from './plan.js'
import type { HoldSpan, Report, WaitSpan } from './truth.js'

/** Who writes down what units do. */
export interface Recorder {
  now(): number
  pause(ms: number): Promise<void>
  /** A call begins to wait. Returns what may abort it. */
  waits(span: WaitSpan): AbortSignal | undefined
  /** The call has ended, and this is what it acquired, if anything. */
  waited(span: WaitSpan, hold: HoldSpan | undefined): void
  /** The hold has ended. */
  held(span: HoldSpan): void
  victim(victim: Report): void
}

const lockOf = (client: Client, { name, shared, keys = [] }: UnitStep): Lock => {
  const kind = kindOf(name)
  if (kind === 'keyedLock') return client.keyedLock(name, keys)
  if (kind === 'multiLock') return client.multiLock(...keys.map((key) => client.lock(`${name}/${key}`)))
  if (kind === 'readWriteLock' || kind === 'fairReadWriteLock') {
    const both = client.readWriteLock(name, { fair: kind === 'fairReadWriteLock' })
    return shared ? both.read : both.write
  }
  return client[kind](name)
}

export const callsOf = (cycle: readonly DeadlockedCall[]): Report['cycle'] =>
  cycle.map(({ client, name, since }) => ({ client, lock: name, since }))

export const reportOf = (client: Client, { cycle }: Deadlock, at: number): Report => ({
  at,
  by: client.id,
  cycle: callsOf(cycle),
})

/** It waits for its locks one after the other. */
const isLoose = (step: UnitStep): boolean => kindOf(step.name) === 'multiLock' && locksOf(step).length > 1

/** A piece of work of one client. */
export interface Unit {
  readonly client: Client
  readonly name: string
  readonly steps: readonly UnitStep[]
}

const spanOf = ({ client, name: unit }: Unit, step: UnitStep): Omit<WaitSpan, 'from' | 'loose'> => {
  const { name, shared } = step
  const kind = kindOf(name)
  const locks = locksOf(step)
  const reads = shared && kind.toLowerCase().includes('readwrite')
  return { unit, client: client.id, locks, shown: kind === 'keyedLock' ? [name] : locks, reads, to: Infinity }
}

/** Runs the steps, each inside the one before. Rejects if a call does, unless the call was the victim of a deadlock. */
export const runUnit = async (unit: Unit, recorder: Recorder): Promise<void> => {
  const { client, steps } = unit
  const end = (span: { to: number }): void => void (span.to = Math.min(span.to, recorder.now()))
  const hold = (step: UnitStep, { loose: _, ...span }: WaitSpan, { signal }: Hold): HoldSpan => {
    const holds = { ...span, renewed: step.lease === undefined, from: span.to, to: Infinity }
    signal.addEventListener('abort', () => end(holds), { once: true })
    return holds
  }
  const within = async (from: number): Promise<void> => {
    const step = steps[from]
    if (step === undefined) return
    const { lease, work, wait } = step
    const waits: WaitSpan = { ...spanOf(unit, step), loose: isLoose(step), from: recorder.now() }
    const signal = recorder.waits(waits)
    let holds: HoldSpan | undefined
    try {
      await lockOf(client, step).using({ wait, lease, signal }, async (had) => {
        end(waits)
        holds = hold(step, waits, had)
        recorder.waited(waits, holds)
        await recorder.pause(work)
        await within(from + 1)
        end(holds)
      })
    } finally {
      end(waits)
      if (holds === undefined) recorder.waited(waits, undefined)
      else {
        end(holds)
        recorder.held(holds)
      }
    }
  }
  try {
    await within(0)
  } catch (error) {
    if (!(error instanceof DeadlockError) || error.cycle === undefined) throw error
    recorder.victim({ at: recorder.now(), by: client.id, cycle: callsOf(error.cycle) })
  }
}
