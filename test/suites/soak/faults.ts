import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorldEvent } from 'holdfast/testing'
import { LAYOUTS } from '#src/testing/simulation/stranger/meddle-with-keys.js'
import type { Seat } from './crew.js'
import { machineTime } from './log.js'
import type { Place } from './place.js'
import { FAIR, LOCKS, LONGEST_LEASE, TRIAL } from './settings.js'
import { deadlinesOf, queueOf } from './lines.js'

export interface Dice {
  /** How long it lasts, ms: mostly short, now and then longer than every lease. */
  ms(): number
  pick<T>(list: readonly T[]): T
  random(): number
}

/** What can go wrong. With a seat it happens to one process, without to the server. */
export interface Fault {
  readonly kind: string
  readonly weight: number
  readonly on: 'process' | 'server' | 'alone'
  readonly possible?: (seat: Seat) => boolean
  readonly happen: (place: Place, seat: Seat, dice: Dice) => Promise<void>
}

const onProcess = (
  kind: string,
  weight: number,
  happen: (seat: Seat, dice: Dice) => Promise<unknown>,
  possible?: (seat: Seat) => boolean,
): Fault => ({
  kind,
  weight,
  on: 'process',
  ...(possible === undefined ? {} : { possible }),
  happen: (place, seat, dice) => place.troubled(kind, seat, () => happen(seat, dice)),
})

const onServer = (kind: string, weight: number, happen: (place: Place, dice: Dice) => Promise<unknown>): Fault => ({
  kind,
  weight,
  on: 'server',
  happen: (place, _seat, dice) => place.troubled(kind, undefined, () => happen(place, dice)),
})

/** Alone, so that every grant from before is heard of soon: by `to`, from which on nothing is excused by it. */
const lossOf = (
  kind: string,
  weight: number,
  happen: (place: Place, dice: Dice) => Promise<Pick<WorldEvent, 'what' | 'name'>>,
): Fault => ({
  kind,
  weight,
  on: 'alone',
  happen: async (place, _seat, dice) => {
    const at = machineTime()
    const loss = await happen(place, dice)
    await sleep(300)
    place.world.push({ ...loss, at, to: machineTime() })
  },
})

/** For a while one thing of the proxy is different. What was thrown away cannot be made good: then the connections are cut. */
const proxied = (
  kind: string,
  weight: number,
  begin: (seat: Seat, dice: Dice) => void,
  end: (seat: Seat) => void,
): Fault =>
  onProcess(kind, weight, async (seat, dice) => {
    begin(seat, dice)
    await sleep(dice.ms())
    end(seat)
  })

/** For so long, something of another program's stands at the key; then nothing. */
const overwritten = async ({ redis }: Place, dice: Dice, key: string, ms: number): Promise<void> => {
  const [command, ...words] = dice.pick(LAYOUTS)
  await redis
    .multi()
    .del(key)
    .call(command, key, ...words)
    .exec()
  await sleep(ms)
  await redis.del(key)
}

export const faults: readonly Fault[] = [
  onProcess('connections cut', 6, async ({ proxy }) => proxy.cut()),
  onProcess('cut instead of a reply', 6, async ({ proxy }) => {
    proxy.cutInsteadOfReply()
    await sleep(100)
  }),
  proxied(
    'half-open, then cut',
    4,
    ({ proxy }) => (proxy.held = 'everything'),
    ({ proxy }) => {
      proxy.cut()
      proxy.held = 'nothing'
    },
  ),
  proxied(
    'half-open, then all arrives',
    4,
    ({ proxy }) => (proxy.held = 'everything'),
    ({ proxy }) => (proxy.held = 'nothing'),
  ),
  proxied(
    'requests held back',
    4,
    ({ proxy }) => (proxy.held = 'requests'),
    ({ proxy }) => (proxy.held = 'nothing'),
  ),
  proxied(
    'replies held back',
    8,
    ({ proxy }) => (proxy.held = 'replies'),
    ({ proxy }) => (proxy.held = 'nothing'),
  ),
  proxied(
    'requests lost',
    3,
    ({ proxy }) => (proxy.deaf = true),
    ({ proxy }) => {
      proxy.cut()
      proxy.deaf = false
    },
  ),
  proxied(
    'replies lost',
    3,
    ({ proxy }) => (proxy.mute = true),
    ({ proxy }) => {
      proxy.cut()
      proxy.mute = false
    },
  ),
  proxied(
    'replies delayed',
    8,
    ({ proxy }, dice) => (proxy.delay = 5 + 700 * dice.random()),
    ({ proxy }) => (proxy.delay = 0),
  ),
  proxied(
    'messages silenced',
    4,
    ({ proxy }) => (proxy.silent = true),
    ({ proxy }) => (proxy.silent = false),
  ),
  onProcess('process killed', 2, async (seat, dice) => {
    await seat.kill()
    await sleep(dice.ms() / 4)
    seat.start()
  }),
  onProcess('process stopped', 4, async (seat, dice) => {
    seat.signal('SIGSTOP')
    await sleep(dice.ms())
    seat.signal('SIGCONT')
  }),
  onProcess('event loop blocked', 4, async (seat, dice) => {
    const block = dice.ms()
    seat.order({ block })
    await sleep(block)
  }),
  onProcess(
    'wall clock stepped',
    4,
    async (seat, dice) => seat.stepWall(Math.round((dice.random() - 0.5) * 10_000) / 1000),
    (seat) => seat.stepsWall,
  ),
  onServer('CLIENT KILL', 3, ({ redis }, dice) =>
    redis.call('CLIENT', 'KILL', 'TYPE', dice.pick(['normal', 'pubsub']), 'SKIPME', 'yes'),
  ),
  onServer('CLIENT PAUSE', 2, async ({ redis }, dice) => {
    const ms = dice.ms() / 2
    await redis.call('CLIENT', 'PAUSE', Math.ceil(ms), dice.pick(['WRITE', 'ALL']))
    await sleep(ms)
  }),
  onServer('server stopped', 2, async ({ serverPid }, dice) => {
    process.kill(serverPid, 'SIGSTOP')
    await sleep(dice.ms() / 2)
    process.kill(serverPid, 'SIGCONT')
  }),
  onServer('server killed, data kept', 2, (place) => place.restart(true)),
  {
    kind: 'SCRIPT FLUSH',
    weight: 3,
    on: 'server',
    happen: async ({ redis }) => {
      await redis.script('FLUSH')
    },
  },
  lossOf('taken by force', 2, async (place, dice) => {
    const name = dice.pick(LOCKS)
    await place.redis.del(name)
    return { what: 'forced', name }
  }),
  lossOf('overwritten by a stranger', 2, async (place, dice) => {
    const name = dice.pick(LOCKS)
    await overwritten(place, dice, name, Math.min(LONGEST_LEASE, dice.ms()))
    return { what: 'forced', name }
  }),
  lossOf('ends early by a stranger', 1, async ({ redis }, dice) => {
    const name = dice.pick(LOCKS)
    const ms = Math.ceil(dice.ms() / 10)
    await redis.pexpire(name, ms)
    await sleep(ms)
    return { what: 'forced', name }
  }),
  // A trial is longer than any lease: of that it would be early.
  onServer('ends late by a stranger', 1, ({ redis }, dice) => redis.pexpire(dice.pick(LOCKS), TRIAL + LONGEST_LEASE)),
  onServer('a line overwritten', 1, async (place, dice) => {
    const name = dice.pick(FAIR)
    await overwritten(place, dice, queueOf(name), dice.random() < 0.5 ? 0 : dice.ms() / 2)
    await place.redis.del(deadlinesOf(name))
  }),
  lossOf('server killed, data lost', 0.7, async (place) => {
    await place.troubled('data lost', undefined, () => place.restart(false))
    return { what: 'wiped' }
  }),
]
