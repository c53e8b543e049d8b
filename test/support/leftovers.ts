import assert from 'node:assert/strict'

/** Fencing tokens count on for ever. */
export const isCounter = (key: string): boolean => key.startsWith('redisson_lock_token:')

/** Whose turn it is at a line, Redisson's or ours: it expires within seconds, and nobody deletes it. */
export const isTurn = (key: string): boolean => /^holdfast_(?:line|keyed|rwlock|permits|expirable)_turn:/.test(key)

/** Who has released a lock by force: it expires within ten seconds. */
const isForceNote = (key: string): boolean => key.includes('holdfast:client:forced:')

/** What may still be there after every client has closed. */
export const mayStay = (key: string): boolean => isCounter(key) || isTurn(key) || isForceNote(key)

/** What is read by `client.list`, `client.watch` and the search for deadlocks. */
export const isListing = (key: string): boolean =>
  /holdfast:client:(?:register$|[\da-f-]{36}:(?:locks|waits)$|forced:)/.test(key)

/** What clients have published for `client.list` goes by itself, within so many ms. */
export const assertListingEnds = async (
  keys: readonly string[],
  pttl: (key: string) => unknown,
  most: number,
): Promise<void> => {
  for (const key of keys.filter(isListing)) {
    const left = Number(await pttl(key))
    // -2: it has gone since.
    assert.ok(left !== -1 && left <= most, `${key} stays for ${left} ms, and not for ${most} at most`)
  }
}
