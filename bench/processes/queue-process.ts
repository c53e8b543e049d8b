/** One process that takes a fair lock, or stands in its line many times: `queue-process.js PARTICIPANT URL NAME`. */
import { participantNamed } from '../participants.js'
import type { Held } from '../participants/participant.js'
import { machineTime } from '../base/stats.js'

/** A number: so many waiters more. `had`: µs of the machine's clock when one of those who wait has it. `entered`: how many have had it so far. */
export type QueueMessage = 'take' | 'free' | 'had' | 'entered'

const [name = '', url = '', key = ''] = process.argv.slice(2)
const session = await participantNamed(name).open(url)
const lock = session.lock('fairLock', key)

let held: Held | undefined
let entered = 0
let tell = (_at: number): void => undefined
const had = new Promise<number>((resolve) => {
  tell = resolve
})

const wait = async (): Promise<void> => {
  held = await lock.acquire()
  entered++
  tell(machineTime())
}

const queue = (times: number): void => {
  for (let time = 0; time < times; time++) void wait()
}

const answers: Readonly<Record<QueueMessage, () => Promise<unknown> | number>> = {
  take: async () => {
    held = await lock.acquire()
  },
  free: async () => {
    const at = machineTime()
    await held?.release()
    return at
  },
  had: () => had,
  entered: () => entered,
}

process.on('message', (message: QueueMessage | number | 'end') => {
  if (message === 'end') process.exit()
  if (typeof message === 'number') queue(message)
  void (async () => process.send?.(typeof message === 'number' ? 'done' : ((await answers[message]()) ?? 'done')))()
})
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
process.send?.('ready')
