/**
 * One process that holds each of many locks, or waits many times for one: `crowd-process.js PARTICIPANT URL LEASE COUNT`,
 * with --expose-gc. Does what the parent says by messages. It ends as by a crash: the parent empties the server.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { participantNamed } from '../participants.js'
import type { Contender, Held } from '../participants/participant.js'
import { type CrowdMessage, SHARED, namesOf } from './crowd-plan.js'
import { cpu, heap } from './own-usage.js'

const [name = '', url = '', lease = '', number = ''] = process.argv.slice(2)
const count = Number(number)
const session = await participantNamed(name).open(url, Number(lease))
const keep = (key: string): Contender => session.kept?.(key) ?? session.lock('lock', key)

/** How many ask at a time. */
const ABREAST = 500
// As one that came from outside: not two pieces, which would be joined while the memory is looked at.
const names = namesOf(count).map((one) => Buffer.from(one).toString())
const held = new Array<Held | undefined>(count)
const waiting = new Array<Promise<Held> | undefined>(count)

const hold = async (many: readonly string[]): Promise<void> => {
  for (let from = 0; from < many.length; from += ABREAST) {
    const some = many.slice(from, from + ABREAST)
    const got = await Promise.all(some.map((one) => keep(one).acquire()))
    got.forEach((one, index) => (held[from + index] = one))
  }
}

const warmUp = async (): Promise<void> => {
  await hold(namesOf(2 * ABREAST, 'warm'))
  await Promise.all(held.map(async (one) => one?.release()))
  held.fill(undefined)
}

const wait = async (): Promise<void> => {
  const lock = session.lock('lock', SHARED)
  for (let index = 0; index < count; index++) {
    waiting[index] = lock.acquire()
    if (index % ABREAST === 0) await turn()
  }
}

const turns = monitorEventLoopDelay({ resolution: 20 })

await warmUp()
const before = await heap()

const answers: Readonly<Record<CrowdMessage, () => Promise<unknown> | number>> = {
  hold: () => hold(names),
  wait,
  /** Bytes. */
  memory: async () => (await heap()) - before,
  cpu,
  /** The longest turn of the event loop since it was last asked, ms, to 20 ms. */
  stall: () => {
    const longest = turns.max / 1e6
    turns.reset()
    turns.enable()
    return longest
  },
  /** What its callers have noticed. */
  troubles: () => session.troubles() + held.filter((one) => one !== undefined && !session.intact(one)).length,
}

process.on('message', (message: CrowdMessage | 'end') => {
  if (message === 'end') process.exit()
  void (async () => process.send?.((await answers[message]()) ?? 'done'))()
})
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
process.send?.('ready')
