import { AsyncLocalStorage } from 'node:async_hooks'
import type { Hold } from '../api/hold.js'
import type { SlotRun } from '../api/slots.js'

const holds = new AsyncLocalStorage<Hold>()
const runs = new AsyncLocalStorage<SlotRun>()

const orThrow = <T>(found: T | undefined, what: string): T => {
  if (found === undefined) throw new Error(`no ${what} runs around this call`)
  return found
}

/** The hold of the innermost `@Locked` method around this call. Its `signal` aborts if the lock is lost. */
export const currentHold = (): Hold => orThrow(holds.getStore(), '@Locked method')

/** The run of the `@RunOnce` method around this call. Its `signal` aborts if another process can take the slot over. */
export const currentRun = (): SlotRun => orThrow(runs.getStore(), '@RunOnce method')

export const withHold = <T>(hold: Hold, work: () => T): T => holds.run(hold, work)
export const withRun = <T>(run: SlotRun, work: () => T): T => runs.run(run, work)
