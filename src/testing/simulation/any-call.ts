import {
  AcquireTimeoutError,
  BusyError,
  ClosedError,
  DeadlockError,
  EngineError,
  HoldfastError,
  LockLostError,
  MembersError,
  NotOwnerError,
} from '../../errors.js'
import { Aborted, type Call, type SimProcess } from './sim-process.js'
import type { Scene, Verdict } from './verdict.js'

/** A call that is aborted or too late may wait so long for the reply that is on its way, and then for its timer. */
const GRACE = 50 + 5
/**
 * Of an idle client: for its label, and for the reply to the command that renews it; and for a second or two after a hold, for what it published about it and
 * for the limit of its release. Each is one for all holds.
 */
const MOST_TIMERS = 4

/** What the server or the way to it did, perhaps to one of several locks. */
const isTrouble = (error: unknown): boolean =>
  error instanceof EngineError || (error instanceof MembersError && error.errors.every((one) => isTrouble(one.error)))

/** Whether a step may end so. */
export const checkError = (
  { process, step, error }: { process: SimProcess; step: string; error: unknown },
  { calm, processes }: Scene,
  verdict: Verdict,
): void => {
  const closed = processes.some(({ closing }) => closing !== undefined)
  if (error instanceof ClosedError && closed) return
  // A step may take again what an earlier one of its worker never gave back.
  if (error instanceof HoldfastError && error.code === 'NESTED_HOLD') return
  if (error instanceof AcquireTimeoutError || error instanceof LockLostError || error instanceof Aborted) return
  if (error instanceof NotOwnerError || error instanceof DeadlockError) return
  if (error instanceof BusyError && process.plan.maxWaiters !== Infinity) return
  if (isTrouble(error) && !calm) return
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  verdict.violation('error', `${step} met ${text}`)
}

/** Limits hold at every await. */
export const checkTimely = (call: Call, wait: number | undefined, verdict: Verdict): void => {
  const { process } = call
  if (process.machine.dead || process.machine.lastWokenAt > call.since) return
  const now = process.machine.time
  const late = (now - call.since).toFixed(0)
  if (wait !== undefined && wait > 0 && now - call.since > wait + GRACE)
    verdict.violation('limit', `${call.id} came back after ${late} ms, its limit was ${wait}`)
  if (call.abortedAt !== undefined && now - call.abortedAt > GRACE)
    verdict.violation('limit', `${call.id} came back ${(now - call.abortedAt).toFixed(0)} ms after its abort`)
}

/** What clients keep in themselves, and what the server keeps for them, though nobody is at anything any more. */
export const checkIdle = ({ processes, server }: Scene, verdict: Verdict): void => {
  for (const process of processes) {
    if (!process.living || process.busy) continue
    const [gate] = process.gates.all
    if (gate !== undefined) verdict.violation('left over', `${process.name} keeps a gate for '${gate.name}'`)
    if (process.machine.timers > MOST_TIMERS)
      verdict.violation('left over', `${process.name} keeps ${process.machine.timers} timers`)
  }
  const heard = server.redis.pubsub.channels(false)
  const waited = processes.some(({ living, busy, calls }) => living && (busy || calls.size > 0))
  if (heard.length > 0 && !waited) verdict.violation('left over', `somebody still listens to ${heard.join(', ')}`)
}

export const checkClosed = (process: SimProcess, verdict: Verdict): void => {
  const { timers } = process.machine
  if (timers > 0) verdict.violation('left over', `${process.name} is closed and keeps ${timers} timers`)
}
