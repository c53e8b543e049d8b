/** One process of one participant: `worker.js PARTICIPANT URL LOAD NAMES`. Does what the parent says by messages. */
import { participantNamed } from '../participants.js'
import type { Session } from '../participants/participant.js'
import { holding } from './hold.js'
import type { Load, Slot } from '../base/load.js'
import { excludes, runSlot } from './loop.js'

const [name = '', url = '', text = '{}', list = '[]'] = process.argv.slice(2)
const load = JSON.parse(text) as Load
const names = JSON.parse(list) as string[]
const participant = participantNamed(name)
const open = async (): Promise<Session> => participant.open(url, undefined, load.pollMs)
const opened = load.clients === 'each' ? load.callers : 1
// One after the other: the server lets no more than a few hundred stand before its door, and who is turned away comes back seconds later.
const sessions: Session[] = []
while (sessions.length < opened) sessions.push(await open())
const hold = holding(load.holdMs, Math.min(load.callers, load.places ?? 1))

/**
 * Who was asked whether a lock is closed to it. They stay until the end: a peer's timers may outlive a wait, and throw once the
 * connection is closed.
 */
const rivals: Session[] = []

const probe = async (): Promise<boolean> => {
  const rival = await open()
  rivals.push(rival)
  return excludes(sessions[0]!, rival, load, `${names[0]}:probe`)
}

const obey = async (message: Slot | 'probe' | 'end'): Promise<void> => {
  if (message === 'probe') process.send?.(await probe())
  else if (message !== 'end') process.send?.(await runSlot({ sessions, load, names, hold }, message))
  else {
    await hold.end()
    for (const one of [...sessions, ...rivals]) await one.close()
    process.disconnect()
  }
}

process.on('message', (message: Slot | 'probe' | 'end') => void obey(message))
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
process.send?.('ready')
