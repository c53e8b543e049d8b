/** Fencing tokens count on for ever. */
export const isCounter = (key: string): boolean => key.startsWith('redisson_lock_token:')

/** Whose turn it is at a line, Redisson's or ours: it expires within seconds, and nobody deletes it. */
export const isTurn = (key: string): boolean => /^holdfast_(?:line|keyed|rwlock|permits|expirable)_turn:/.test(key)

/** What may still be there after every client has closed. */
export const mayStay = (key: string): boolean => isCounter(key) || isTurn(key)
