import type { Random } from '../random.js'

/** What can happen to one command on its way there and back. */
export const REQUEST_FAULTS = [
  'slow request',
  'slow reply',
  'lost request',
  'lost reply',
  'cut before',
  'cut after',
  'cut, executed late',
  'refused',
  'scripts flushed',
] as const
export type RequestFault = (typeof REQUEST_FAULTS)[number]

export const MESSAGE_FAULTS = ['message lost', 'message doubled', 'message late'] as const
export type MessageFault = (typeof MESSAGE_FAULTS)[number]

/** What can happen to a process, or to the server under it, at any moment. */
export const MOMENT_FAULTS = [
  'stopped',
  'stopped within a tick',
  'suspended',
  'killed',
  'closed',
  'aborted',
  'wall clock stepped',
  'half-open',
  'replies held back',
  'messages cut',
  'released by force',
  'key deleted',
  'server stopped',
  'server restarted',
  'server wiped',
] as const
export type MomentFault = (typeof MOMENT_FAULTS)[number]

export type Fault = RequestFault | MessageFault | MomentFault

/** Where a process can be when it meets a fault, apart from the commands on their way. */
export const STATES = ['waiting', 'holding'] as const

const OF_SCRIPTS: ReadonlySet<Fault> = new Set(['scripts flushed', 'cut, executed late'])

/** Whether this can happen to that command. */
export const fits = (fault: RequestFault, op: string): boolean => {
  // Only a script can be unknown, and what goes over the connection for messages is never executed late.
  if (OF_SCRIPTS.has(fault)) return op.includes('/')
  return fault !== 'refused' || op !== 'unsubscribe'
}

/** Every pair that a long run must have met; where nobody is told of releases no message can go astray. */
export const pairsOf = (scripts: readonly string[], told: boolean): [Fault, string][] => {
  const commands = [...scripts, 'subscribe', 'unsubscribe']
  const pairs: [Fault, string][] = []
  for (const point of commands) for (const fault of REQUEST_FAULTS) if (fits(fault, point)) pairs.push([fault, point])
  for (const point of [...commands, ...STATES]) {
    for (const fault of [...(told ? MESSAGE_FAULTS : []), ...MOMENT_FAULTS]) {
      // Who unsubscribes has waited for nothing for two seconds: there is seldom a call to abort.
      if (fault !== 'aborted' || point !== 'unsubscribe') pairs.push([fault, point])
    }
  }
  return pairs
}

/** How much goes wrong in one history. */
export interface Weather {
  readonly name: 'calm' | 'deaf' | 'aimed' | 'stormy'
  /** Shares of commands and of messages that meet a fault. */
  readonly requests: number
  readonly messages: number
  /** How many faults come at a random moment. */
  readonly moments: number
  /** What this history is to meet, and where; the how-manieth chance is taken. */
  readonly aim?: { readonly fault: Fault; readonly point: string; chances: number } | undefined
}

export const weatherOf = (random: Random, pairs: readonly [Fault, string][]): Weather => {
  const share = random.next()
  if (share < 0.1) return { name: 'calm', requests: 0, messages: 0, moments: 0 }
  if (share < 0.2) return { name: 'deaf', requests: 0, messages: random.pick([0.3, 0.7, 1]), moments: 0 }
  if (share < 0.75) {
    const [fault, point] = random.pick(pairs)
    const aim = { fault, point, chances: 1 + random.below(4) }
    const more = random.chance(0.4)
    return {
      name: 'aimed',
      requests: more ? 0.03 : 0,
      messages: more ? 0.1 : 0,
      moments: more ? random.below(2) : 0,
      aim,
    }
  }
  return {
    name: 'stormy',
    requests: random.between(0.01, 0.2),
    messages: random.between(0, 0.5),
    moments: random.below(6),
  }
}

/** What a server says instead of doing it. */
export const REFUSALS = [
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  'LOADING Redis is loading the dataset in memory',
  "READONLY You can't write against a read only replica.",
  "OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
  'CLUSTERDOWN The cluster is down',
  "NOPERM this user has no permissions to run the 'evalsha' command",
] as const
