import { systemClock } from '../base/clock.js'
import { show } from '../check-arguments.js'
import { errorOf, isError, isPromise, settled } from '../thrown.js'

/** An Error that no framework misunderstands: with `undefined`, Express goes on with the request, and with 'route', it leaves the route. */
export const asError = (thrown: unknown, who: string): Error =>
  errorOf(
    thrown,
    `${who} threw ${isError(thrown) ? 'an Error that cannot be read' : `${show(thrown)}, which is not an Error`}`,
  )

/** The promise of a function of the user. If it never settled, the request would wait forever. */
const settledIn = (promise: unknown, who: string, ms: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const timer = systemClock.setTimer(() => {
      reject(new Error(`${who.replace(/: (\S+)$/, ': the promise of $1')} did not settle within ${ms} ms`))
    }, ms)
    void settled(promise)
      .then(resolve, reject)
      .finally(() => {
        timer.cancel()
      })
  })

/** What a function of the user returned, or what its promise resolved with. `who` ends with the function: `rate limit 'x': key()`. */
export const given = (value: unknown, who: string, ms: number): unknown =>
  isPromise(value) ? settledIn(value, who, ms) : value
