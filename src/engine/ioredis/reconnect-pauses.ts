import type { Clock } from '../../base/clock.js'
import type { IoredisClient } from './client-type.js'

/** The longest pause without its random part, ms. */
const LONGEST = 2000
/** A connection that was up for this long was useful, even if nothing was sent on it, ms. */
const USEFUL = 500
/** The first byte of an error reply. */
const ERROR = 0x2d

/** The pause before each attempt to connect, ms; a quarter either way, so that not all clients come back together. */
export const pauses = (clock: Clock) => (attempt: number) =>
  Math.min(20 * 2 ** Math.min(attempt, 7), LONGEST) * (0.75 + 0.5 * clock.random())

/**
 * Makes a client pause longer with each connection that is of no use: one that is closed soon, and on which no command succeeded. ioredis itself counts
 * only failed attempts since a connection was up. So it would never stop dialing a proxy that accepts connections and closes them because it has lost
 * its server, or a server that has too many clients.
 */
export const paused = (client: IoredisClient, clock: Clock): IoredisClient => {
  const again = pauses(clock)
  /** How many connections in a row were up and of no use. */
  let useless = 0
  let since = 0
  client.on('ready', () => {
    const { stream } = client
    useless++
    since = clock.monotonic()
    const heard = (reply: Uint8Array): void => {
      if (reply[0] === ERROR) return
      useless = 0
      stream?.off('data', heard)
    }
    stream?.on('data', heard)
  })
  const retryStrategy = (attempt: number): number => {
    if (attempt === 1 && clock.monotonic() - since >= USEFUL) useless = 0
    return again(attempt + useless)
  }
  Object.assign(client.options ?? {}, { retryStrategy })
  return client
}
