import { POLL } from '../../script-constants.js'
import type { Runtime } from '../client/runtime.js'
import { waitsOut } from '../server/error-kinds.js'
import { limitedStep, type LATE } from './limited-step.js'
import type { Patience } from './wait-request.js'

/** ms. How long a call that waits trouble out pauses before it asks again. `before`: how much trouble it had met before this one. */
export const troublePause = (before: number): number => Math.min(50 * 2 ** before, POLL)

/**
 * Runs a step that may be repeated, for a call that waits but is in no queue: again and again while there is trouble that such a call waits out. The signal
 * and the end of the wait end the call, not the step.
 */
export const repeatWhileTrouble = async <T>(
  runtime: Runtime,
  step: () => Promise<T>,
  patience: Patience,
): Promise<T | typeof LATE> => {
  let over = false
  const answer = async (): Promise<T> => {
    for (let troubles = 0; ; troubles++) {
      try {
        return await step()
      } catch (trouble) {
        if (!waitsOut(trouble, patience, false)) throw trouble
        patience.trouble = trouble
        await runtime.background.pause(troublePause(troubles))
        if (over) throw trouble
      }
    }
  }
  try {
    return await limitedStep(answer(), patience, runtime.options.clock, () => Promise.resolve())
  } finally {
    over = true
  }
}
