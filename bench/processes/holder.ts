/** One process that acquires a lock that its library renews: `holder.js PARTICIPANT URL NAME LEASE`. */
import { readFileSync } from 'node:fs'
import { participantNamed } from '../participants.js'
import type { Contender, Held } from '../participants/participant.js'
import { machineTime } from '../base/stats.js'
import { cpu } from './own-usage.js'

/** ms */
const POLL = 50

/**
 * A number: the event loop is blocked for so many ms. Each answer is µs of the machine's clock. `take`: so that it is renewed. `wait`: without a limit.
 * `learned`: when it learned of trouble, 0 for never. `cpu`: µs of CPU so far. `memory`: kB, the proportional set size; 0 where the system does not tell.
 */
export type HolderMessage = 'take' | 'wait' | 'free' | 'learned' | 'cpu' | 'memory'

/** The event loop is blocked for so many ms, and the code that blocks it looks at its hold all the time. */
export interface LookWhileBlocked {
  readonly block: number
}

/** µs of the machine's clock. */
export interface Looked {
  /** When it would last have thought that it held the lock. */
  readonly sure: number
  readonly over: number
}

const [name = '', url = '', key = '', lease = ''] = process.argv.slice(2)
const session = await participantNamed(name).open(url, Number(lease), POLL)
const lock = session.lock('lock', key)
const kept = session.kept?.(key) ?? lock

let held: Held | undefined
let learned = 0
setInterval(() => {
  if (learned === 0 && (session.lost?.() ?? session.troubles()) > 0) learned = machineTime()
}, 2)

const block = (ms: number): number => {
  const until = machineTime() + ms * 1000
  while (machineTime() < until);
  return machineTime()
}

const lookWhileBlocked = ({ block }: LookWhileBlocked): Looked => {
  const until = machineTime() + block * 1000
  let sure = 0
  for (let now = machineTime(); now < until; now = machineTime()) {
    if (held !== undefined && session.intact(held)) sure = now
  }
  return { sure, over: machineTime() }
}

const memory = (): number => {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

const acquire = async (from: Contender): Promise<number> => {
  held = await from.acquire()
  return machineTime()
}

const answers: Readonly<Record<HolderMessage, () => Promise<number> | number>> = {
  take: () => acquire(kept),
  wait: () => acquire(lock),
  free: async () => {
    // One that was lost cannot be released: its library may reject.
    await Promise.resolve(held?.release()).catch(() => undefined)
    return machineTime()
  },
  learned: () => learned,
  cpu,
  memory,
}

type Message = HolderMessage | LookWhileBlocked | number

const answer = async (message: Message): Promise<unknown> => {
  try {
    if (typeof message === 'object') return lookWhileBlocked(message)
    return typeof message === 'number' ? block(message) : await answers[message]()
  } catch (error) {
    return String(error)
  }
}

process.on('message', (message: Message | 'end') => {
  if (message === 'end') process.exit()
  void answer(message).then((reply) => process.send?.(reply))
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
