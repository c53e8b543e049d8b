import { POLL } from '../../constants.js'
import type { Runtime } from '../client/runtime.js'
import { waitsOut } from '../server/error-kinds.js'
import { limitedStep, type LATE } from './limited-step.js'
import type { Patience } from './request.js'

/** The pause before the second attempt, ms. It doubles with each attempt. */
const FIRST = 50

/**
 * Runs a step that may be repeated, for a call that waits but is in no queue: again and again while there is trouble that such a call waits out. The signal
 * and the end of the wait end the call, not the step.
 */
export const waitOut = async <T>(
  runtime: Runtime,
  step: () => Promise<T>,
  patience: Patience,
): Promise<T | typeof LATE> => {
  let over = false
  const answer = async (): Promise<T> => {
    for (let pause = FIRST; ; pause = Math.min(2 * pause, POLL)) {
      try {
        return await step()
      } catch (trouble) {
        if (!waitsOut(trouble, patience, false)) throw trouble
        patience.trouble = trouble
        await runtime.background.pause(pause)
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
