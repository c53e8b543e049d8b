import type { Flight } from '../../api/flight.js'
import { AcquireTimeoutError, EngineError } from '../../errors.js'
import { quoted } from '../../plain-text.js'
import type { Kept } from './stored-answer-format.js'

/** A request that runs its handler. */
export interface Begun {
  readonly state: 'begun'
  readonly token: bigint
  readonly signal: AbortSignal
  /** Ends the claim, and keeps this for later requests, or nothing. Resolves when the server has answered. Only the first call counts. */
  end(kept: Kept | undefined): Promise<void>
}

export type Claim = Begun | { readonly state: 'running' } | { readonly state: 'kept'; readonly kept: Kept }

/** The handler's outcome is not kept, so that the flight has none. */
class NotKept extends Error {
  override readonly name = 'NotKept'
}

export interface ClaimOptions {
  readonly ttl: number
  readonly lease: number | undefined
  /** Aborts when the request was answered without the server. */
  readonly signal: AbortSignal
}

/** Claims a key, or finds out what is kept for it, or that another request has claimed it. */
export const claim = (flight: Flight, key: string, { ttl, lease, signal }: ClaimOptions): Promise<Claim> =>
  new Promise((resolve, reject) => {
    let begun = false
    const work = (token: bigint, lost: AbortSignal): Promise<Kept> => {
      // A request runs its handler once, whatever becomes of its flight.
      if (begun || signal.aborted) throw new NotKept('the request has ended')
      begun = true
      return new Promise((keep, drop) => {
        const end = async (kept: Kept | undefined): Promise<void> => {
          if (kept === undefined) drop(new NotKept('the request was not answered for good'))
          else keep(kept)
          await ended
        }
        resolve({ state: 'begun', token, signal: lost, end })
      })
    }
    // The answer counts for as long as it is stored, even if the server's clock was set back: better an old answer than a second run.
    const options = { ttl, reuse: 'stored', lease, signal, wait: 0, failure: 'retry' } as const
    const ended = flight
      .run<Kept | undefined>(key, options, (run) => work(run.token, run.signal))
      .then(({ value }) => {
        if (value !== undefined) resolve({ state: 'kept', kept: value })
        else
          reject(
            new EngineError('WRONG_KIND', `${quoted(key)} of ${quoted(flight.name)} holds no answer of this library`),
          )
      })
      .catch((error: unknown) => {
        if (error instanceof AcquireTimeoutError) resolve({ state: 'running' })
        else reject(error)
      })
  })
