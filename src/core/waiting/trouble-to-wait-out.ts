import type { Clock } from '../../base/clock.js'
import { POLL } from '../../script-times-and-limits.js'
import { isMoving, isTransient } from '../server/transient-or-unsure-errors.js'

/** ms. The first pause, which doubles with each trouble, and the longest; each has a random part of up to a quarter either way. */
const FIRST = 50
const LONGEST = 0.8 * POLL

/** A call with a time limit waits out passing trouble. One without does so once the server has answered it, or while a slot moves. */
export const waitsOut = (trouble: unknown, { wait }: { readonly wait: number }, answered: boolean): boolean =>
  isTransient(trouble) && (answered || (wait > 0 && (wait !== Infinity || isMoving(trouble))))

/**
 * ms. How long a call that waits trouble out pauses before it asks again. `before`: how much trouble it had met before this one. Random, because many
 * clients meet the same trouble in the same moment; at most a poll, because after trouble a free lock is asked for within a second.
 */
export const troublePause = (clock: Pick<Clock, 'random'>, before: number): number =>
  Math.min(FIRST * 2 ** before, LONGEST) * (0.75 + 0.5 * clock.random())
