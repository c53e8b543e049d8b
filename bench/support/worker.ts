/** One process of one participant: `worker.js PARTICIPANT URL LOAD NAMES`. Does what the parent says by messages. */
import { participantNamed } from '../participants.js'
import { holding } from './hold.js'
import type { Load, Slot } from './load.js'
import { excludes, runSlot } from './loop.js'

const [name = '', url = '', text = '{}', list = '[]'] = process.argv.slice(2)
const load = JSON.parse(text) as Load
const names = JSON.parse(list) as string[]
const participant = participantNamed(name)
const session = await participant.open(url)
const hold = holding(load.holdMs, Math.min(load.callers, load.places ?? 1))

const probe = async (): Promise<boolean> => {
  const other = await participant.open(url)
  try {
    return await excludes(session, other, load, `${names[0]}:probe`)
  } finally {
    await other.close()
  }
}

const obey = async (message: Slot | 'probe' | 'end'): Promise<void> => {
  if (message === 'probe') process.send?.(await probe())
  else if (message !== 'end') process.send?.(await runSlot({ session, load, names, hold }, message))
  else {
    await hold.end()
    await session.close()
    process.disconnect()
  }
}

process.on('message', (message: Slot | 'probe' | 'end') => void obey(message))
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
process.send?.('ready')
