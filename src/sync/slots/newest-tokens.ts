/** The newest token that a client has received, by key. The next token is above it, even if the counter was deleted. */
export type NewestTokens = Map<string, bigint>

/** The newest tokens of this many names are kept: those used last. */
const NAMES = 1000

export const newestOf = (newest: NewestTokens, key: string): bigint => newest.get(key) ?? 0n

export const remember = (newest: NewestTokens, key: string, token: bigint): void => {
  const known = newestOf(newest, key)
  newest.delete(key)
  newest.set(key, token > known ? token : known)
  for (const oldest of newest.keys()) {
    if (newest.size <= NAMES) break
    newest.delete(oldest)
  }
}
