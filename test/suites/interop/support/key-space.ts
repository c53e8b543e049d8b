import type { Redis } from 'ioredis'

/** A key as it stands, owners by their labels. */
export interface Entry {
  readonly key: string
  readonly type: string
  readonly value: unknown
  /** ms; -1 without expiry. */
  readonly ttl: number
}

const OWNER = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(\d+)/g
const LATCH = 'redisson_unlock_latch:'
/** Where ours wait beside Redisson's keys, which knows nothing of it. */
const LINE =
  /^holdfast_(?:line(?:_due|_turn)?|keyed_(?:line|due|sets|turn)|rwlock_(?:queue|timeout|turn)|(?:permits|expirable)_(?:line|due|wanted|turn)|limiter_(?:line|places)):/
/** Ours of the same sort: it goes a second later, and has an expiry. */
const NOTE = 'holdfast_request:'

/** Puts labels in the place of owners; owners of the same client have the same label, unless each has its own. */
export const labelled = (text: string, labels: ReadonlyMap<string, string>): string =>
  text.replaceAll(OWNER, (owner, client: string) => labels.get(owner) ?? labels.get(client) ?? owner)

const pairs = (flat: readonly string[]): [string, string][] =>
  flat.flatMap((item, index) => (index % 2 === 0 ? [[item, flat[index + 1] ?? ''] as [string, string]] : []))

const valueOf = async (redis: Redis, key: string, type: string): Promise<unknown> => {
  if (type === 'string') return redis.get(key)
  if (type === 'hash') return Object.entries(await redis.hgetall(key)).sort()
  if (type === 'list') return redis.lrange(key, 0, -1)
  if (type === 'set') return (await redis.smembers(key)).sort()
  // Byte by byte: grants of a rate limiter are no text.
  if (type === 'zset')
    return pairs((await redis.zrangeBuffer(key, '0', '-1', 'WITHSCORES')).map((item) => item.toString('latin1')))
  return type
}

/** Redisson's private mark that an unlock was done, which it deletes without waiting for that. */
const afterLatches = async (redis: Redis): Promise<string[]> => {
  const end = performance.now() + 3000
  for (;;) {
    const keys = (await redis.keys('*')).filter((key) => !LINE.test(key)).sort()
    if (!keys.some((key) => key.startsWith(LATCH)) || performance.now() > end) return keys
  }
}

const withoutLatches = async (redis: Redis): Promise<string[]> =>
  (await redis.keys('*')).filter((key) => !key.startsWith(LATCH) && !LINE.test(key)).sort()

/** Everything on the server. `latches`: some versions leave theirs until they expire. */
export const keySpace = async (
  redis: Redis,
  labels: ReadonlyMap<string, string>,
  latches: 'go' | 'stay' = 'go',
): Promise<Entry[]> => {
  const entries: Entry[] = []
  for (const key of await (latches === 'go' ? afterLatches : withoutLatches)(redis)) {
    const type = await redis.type(key)
    // It has gone since the keys were listed.
    if (type === 'none') continue
    const [value, ttl] = [await valueOf(redis, key, type), await redis.pttl(key)]
    if (key.startsWith(NOTE) && ttl !== -1) continue
    const text = labelled(JSON.stringify(value), labels)
    entries.push({ key: labelled(key, labels), type, value: JSON.parse(text) as unknown, ttl })
  }
  return entries
}
