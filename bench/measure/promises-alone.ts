import { Child } from '../processes/child.js'
import { digest } from './digest.js'
import type { Load, Sample } from '../base/load.js'
import type { Figures } from '../base/result.js'

/** No lock at all: what the engine's garbage collector alone does to whoever waits. */
export const promisesAlone = async (load: Load, seconds: number): Promise<Figures> => {
  const child = await Child.open('promises.js', [JSON.stringify(load)])
  try {
    const sample = await child.ask({ startAt: Date.now(), warm: 1, seconds })
    return digest([sample as Sample], seconds)
  } finally {
    await child.end()
  }
}
