import type { Bytes } from '../reply.js'

/** The commands of Redis 7.0 that `memory:` does not have, by group; `!` marks those that scripts may not call in Redis. */
const GROUPS: Readonly<Record<string, string>> = {
  streams: `xack xadd xautoclaim xclaim xdel xgroup xinfo xlen xpending xrange xread xreadgroup xrevrange xsetid xtrim`,
  HyperLogLog: `pfadd pfcount pfdebug pfmerge pfselftest`,
  'geographical sets': `geoadd geodist geohash geopos georadius georadius_ro georadiusbymember georadiusbymember_ro
    geosearch geosearchstore`,
  bitmaps: `bitfield bitfield_ro bitop bitpos`,
  'keys and strings': `dump lcs migrate move object restore restore-asking sort sort_ro swapdb`,
  'commands that block': `blmove blmpop blpop! brpop! brpoplpush! bzmpop bzpopmax! bzpopmin!`,
  transactions: `discard! exec! multi! unwatch! watch!`,
  'functions and debugging of scripts': `fcall! fcall_ro! function script|debug! script|help`,
  'subscriptions, which are made through the client': `psubscribe! punsubscribe! ssubscribe! subscribe! sunsubscribe!
    unsubscribe! pubsub|help`,
  'connections and users': `acl auth! hello! quit! reset! client|caching! client|getredir! client|help client|kill!
    client|list! client|pause! client|reply! client|tracking! client|trackinginfo! client|unblock! client|unpause!`,
  'clusters and replicas': `asking cluster failover! psync! readonly readwrite replconf! replicaof! slaveof! sync!`,
  administration: `bgrewriteaof! bgsave! debug! lastsave latency lolwut memory module monitor! save! shutdown! slowlog
    config|help config|rewrite! command|docs command|getkeys command|getkeysandflags command|help command|info command|list`,
}

const words = (text: string): string[] => text.split(/\s+/)

export const unsupportedGroups: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(GROUPS).map(([group, names]) => [group, words(names).map((name) => name.replace('!', ''))]),
)

/** Whether a script may call it, by name. */
const allowed = new Map(
  Object.values(GROUPS).flatMap((names) =>
    words(names).map((name): [string, boolean] => [name.replace('!', ''), !name.endsWith('!')]),
  ),
)

/** The name of a command that Redis has and `memory:` does not; undefined if Redis does not have it either. */
export const unsupportedName = (argv: readonly Bytes[]): string | undefined => {
  const name = (argv[0] ?? '').toLowerCase()
  const inner = `${name}|${(argv[1] ?? '').toLowerCase()}`
  return allowed.has(name) ? name : allowed.has(inner) ? inner : undefined
}

export const isAllowedInScripts = (name: string): boolean => allowed.get(name) === true
