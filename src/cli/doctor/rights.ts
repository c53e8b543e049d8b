import type { Node, Probe } from '../../probe.js'
import { UsageError } from '../usage-error.js'
import { quoted } from '../../plain-text.js'
import { shellWord } from '../text/shell-word.js'
import type { Finding } from './finding.js'
import { isRefusal, type Server } from './server.js'

/** Calls of the commands in the ACL lines of SECURITY.md. `K` is a key, `C` a channel. A test compares them with these lines. */
export const BOTH = [
  ...[
    'ping',
    'select 0',
    'info',
    'eval 1 0',
    'evalsha 1 0',
    'cluster info',
    'cluster slots',
    'exists K',
    'get K',
    'getrange K 0 0',
    'hexists K f',
  ],
  ...[
    'hget K f',
    'hgetall K',
    'hkeys K',
    'hlen K',
    'hscan K 0',
    'hstrlen K f',
    'lrange K 0 0',
    'pttl K',
    'time',
    'type K',
  ],
  ...['zcount K 0 0', 'zrange K 0 0', 'zscore K m'],
] as const
export const ONLY_FULL = [
  ...['wait 0 1', 'subscribe C', 'unsubscribe C', 'ssubscribe C', 'sunsubscribe C', 'publish C m', 'spublish C m'],
  ...['pubsub numsub', 'pubsub shardnumsub', 'decr K', 'decrby K 1', 'del K', 'hdel K f'],
  ...['hincrby K f 1', 'hmget K f', 'hset K f v', 'hsetnx K f v', 'incr K', 'incrby K 1', 'lindex K 0', 'llen K'],
  ...['lpop K', 'lpush K v', 'lrem K 0 v', 'ltrim K 0 0', 'persist K', 'pexpire K 1', 'pexpireat K 1', 'rpush K v'],
  ...['set K v', 'unlink K', 'zadd K 1 m', 'zcard K', 'zincrby K 1 m', 'zrem K m'],
  ...['zremrangebyrank K 0 0', 'zrevrange K 0 0'],
] as const
export const ONLY_LOOKING = ['scan 0', 'dbsize'] as const

/** Only for a cluster, or for another database, which the connection would have asked for already. */
const OF_CLUSTERS: readonly string[] = [
  'cluster|info',
  'cluster|slots',
  'ssubscribe',
  'sunsubscribe',
  'spublish',
  'pubsub|shardnumsub',
]
const NEVER_MISSED = 'select'
/** A user who lacks all of these cannot acquire anything. */
const WRITES: readonly string[] = ['hset', 'hincrby', 'set', 'zadd', 'del']

/** What an ACL calls the command of a call. */
export const commandOf = (call: string): string =>
  call.replace(/^(cluster|pubsub) (\w+).*$/, '$1|$2').replace(/ .*$/, '')

/** `full`: acquires and releases; `looks`: only looks; `less`: lacks something for either. */
export type Level = 'full' | 'looks' | 'less'

/** What a user may do. */
export interface Rights {
  readonly user: string
  readonly level: Level
  /** Only some keys and channels. */
  readonly someNames: boolean
  readonly missing: readonly string[]
  /** Full rights, but not on the keys of labels. */
  readonly unlabelled: boolean
}

/** Why the rights are not known. */
export interface Untested {
  readonly why: string
}

type Verdict = 'yes' | 'no' | 'not there'

const KEY = 'holdfast-doctor'

/** Asks one master about one call. `not there`: this key or channel is not among the user's. */
const dryRun = async (probe: Probe, node: Node, user: string, words: readonly string[]): Promise<Verdict> => {
  try {
    const answer = await probe.text(['ACL', 'DRYRUN', user, ...words], node)
    if (answer === 'OK') return 'yes'
    return /\baccess\b.*\b(key|channel)/.test(answer) ? 'not there' : 'no'
  } catch (error) {
    // An older server does not know some of them.
    if (isRefusal(error) && /^ERR Command .* not found/.test(error.message)) return 'yes'
    throw error
  }
}

const userOf = async (probe: Probe, node: Node, wanted: string | undefined): Promise<string> => {
  if (wanted === undefined) return probe.text(['ACL', 'WHOAMI'], node)
  return wanted
}

/** The rights of this user, or of the one that is asked for. */
export const rightsAt = async (probe: Probe, { node }: Server, wanted?: string): Promise<Rights | Untested> => {
  try {
    const user = await userOf(probe, node, wanted)
    return await tested(probe, node, user)
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (wanted !== undefined && /User .*not found/.test(error.message))
      throw new UsageError(`the server has no user ${quoted(wanted)}`)
    return { why: error.message }
  }
}

const tested = async (probe: Probe, node: Node, user: string): Promise<Rights> => {
  const word = (part: string): string => (part === 'K' || part === 'C' ? KEY : part)
  const verdicts = new Map<string, Verdict>()
  const test = async (call: string): Promise<void> => {
    verdicts.set(commandOf(call), await dryRun(probe, node, user, call.split(' ').map(word)))
  }
  // The first one alone: a server that does not know ACL DRYRUN is not asked again.
  await test(BOTH[0])
  await Promise.all([...BOTH.slice(1), ...ONLY_FULL, ...ONLY_LOOKING].map(test))
  const lacks = (calls: readonly string[]): readonly string[] =>
    calls
      .map(commandOf)
      .filter((name) => name !== NEVER_MISSED && (probe.cluster || !OF_CLUSTERS.includes(name)))
      .filter((name) => verdicts.get(name) === 'no')
  const looks = WRITES.every((name) => verdicts.get(name) === 'no')
  const missing = lacks(looks ? [...BOTH, ...ONLY_LOOKING] : [...BOTH, ...ONLY_FULL])
  const level = missing.length > 0 ? 'less' : looks ? 'looks' : 'full'
  const label = level === 'full' ? await dryRun(probe, node, user, ['set', probe.labelKey, 'v']) : 'yes'
  return { user, level, missing, someNames: [...verdicts.values()].includes('not there'), unlabelled: label !== 'yes' }
}

/** What is wrong with the rights of a user. `asked`: the one who was asked for by name. */
export const rightsFaults = (
  rights: Rights | Untested,
  { name: about, cli }: Server,
  probe: Probe,
  asked: string | undefined,
): readonly Finding[] => {
  if ('why' in rights)
    return asked === undefined
      ? []
      : [{ code: 'unseen', about, what: `the rights of ${quoted(asked)} were not tested: ${rights.why}` }]
  const { user, level, missing, unlabelled } = rights
  const allow = (rules: string): readonly string[] => [`${cli} ACL SETUSER ${shellWord(user)} ${rules}`]
  const lacking: Finding = {
    ...{ code: 'rights', about },
    what: `the user ${quoted(user)} may not use ${missing.join(', ')}`,
    run: allow(missing.map((name) => `+${name}`).join(' ')),
  }
  const silent: Finding = {
    ...{ code: 'labels', about },
    what: `the user ${quoted(user)} may not write ${probe.labelKey}`,
    run: allow(shellWord('~holdfast:client:*')),
  }
  return [...(level === 'less' ? [lacking] : []), ...(unlabelled ? [silent] : [])]
}
