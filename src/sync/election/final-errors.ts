import type { Runtime } from '../../core/client/runtime.js'
import { BusyError, EngineError, LockLostError, ReplicationError } from '../../errors.js'
import { refusesForGood } from '../../away-or-refusing.js'

/** Whether waiting cannot fix this error. */
export const isFinal = (error: unknown): boolean => {
  if (error instanceof EngineError) return refusesForGood(error)
  return ![BusyError, LockLostError, ReplicationError].some((passing) => error instanceof passing)
}

/** Repeats a step until the server answers, or until `until`. Stops at an error that waiting cannot fix. */
export const persist = async <T>(
  runtime: Runtime,
  step: () => Promise<T>,
  until: number | (() => number),
): Promise<{ answer: T } | { error: unknown }> => {
  const outcome = await runtime.retry.insist(async () => {
    try {
      return { answer: await step() }
    } catch (error) {
      if (isFinal(error)) return { error }
      throw error
    }
  }, until)
  return 'answer' in outcome ? outcome.answer : outcome
}
