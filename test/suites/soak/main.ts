/** Many processes, every fault, one server: `main.js --minutes N [--seed S]`. Exit 1 when something was not as it should be. */
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { HistoryEvent, Violation } from 'holdfast/testing'
import { checkHistory } from 'holdfast/testing'
import { seeded } from '../../support/random.js'
import { Conductor } from './conductor.js'
import { faketime } from './faketime.js'
import { Lines, passBy } from './lines.js'
import { Place } from './place.js'
import { report } from './report.js'
import { StrangersVoice } from './voice.js'
import { FORGOTTEN_AFTER, isFair, LONGEST_LEASE, RECOVERY } from './settings.js'

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } })
const minutes = Number(values.minutes ?? 5)
const seed = Number(values.seed ?? (Date.now() % 1_000_000) + 1)
if (!(minutes > 0) || !Number.isInteger(seed)) throw new RangeError('--minutes N [--seed S]')

// Whatever ends this process ends the others: each has an `exit` listener here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130))
process.setMaxListeners(0)

/** What stays after every lease of those who died is over. */
const leftovers = async ({ redis }: Place): Promise<string[]> => {
  await sleep(LONGEST_LEASE + 500)
  const keys = await redis.keys('*')
  const ttls = await Promise.all(keys.map((key) => redis.pttl(key)))
  // Labels of the dead live as long as nobody can miss them.
  const stay = keys.filter((key, index) => !key.startsWith('holdfast:client:') || (ttls[index] ?? -1) === -1)
  const channels = (await redis.call('PUBSUB', 'CHANNELS', '*')) as string[]
  return [...stay, ...channels]
}

/** Of the fair locks, or of the others. */
const check = (history: readonly HistoryEvent[], fair: boolean): Violation[] => {
  const own = history.filter(({ name }) => name === undefined || isFair(name) === fair)
  return checkHistory(own, { fair, forgottenAfter: FORGOTTEN_AFTER, noticedWithin: 1.5 * LONGEST_LEASE })
}

const soak = async (place: Place): Promise<boolean> => {
  const conductor = new Conductor(place, seeded(seed))
  const mishaps = (): string[] => place.seats.flatMap((seat) => seat.mishaps)
  if (faketime === undefined) console.log('no libfaketime: wall clocks are not stepped')
  console.log(`soak: ${minutes} minutes, seed ${seed}`)
  const lines = new Lines()
  const watched = lines.watch(place.redis)
  const voice = new StrangersVoice(place.url, seed)
  voice.begin()
  await conductor.run(minutes * 60_000, () => mishaps().length > 0)
  await sleep(RECOVERY)
  await Promise.all(place.seats.map((seat) => seat.finish(30_000)))
  lines.end()
  await watched
  await voice.end()
  conductor.counts.set('messages of a stranger', voice.said)
  await passBy(place.url)
  const left = await leftovers(place)
  const told = place.seats.flatMap((seat) => seat.history())
  const history: HistoryEvent[] = [...lines.queued(told), ...told, ...place.world]
  const violations = [false, true].flatMap((fair) => check(history, fair))
  return report({ seed, minutes, history, faults: conductor.counts, violations, left, mishaps: mishaps() })
}

const place = await Place.open(seed)
try {
  process.exitCode = (await soak(place)) ? 0 : 1
} finally {
  for (const seat of place.seats) await seat.kill()
  await place.close()
}
process.exit()
