import type { Runtime } from '../client/runtime.js'
import { limitedStep, type LATE } from './limited-step-outside-queue.js'
import type { Patience } from './acquire-request.js'
import { troublePause, waitsOut } from './trouble-to-wait-out.js'

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
        await runtime.background.pause(troublePause(runtime.options.clock, troubles))
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
