/** A queue of promises and nothing else goes round its callers, as a lock would: `promises.js LOAD`. Answers each slot. */
import type { Held, Session } from '../participants/participant.js'
import { holding } from './hold.js'
import type { Load, Slot } from '../base/load.js'
import { runSlot } from './loop.js'

let taken = false
const waiting: ((held: Held) => void)[] = []
const held: Held = {
  release: () => {
    const next = waiting.shift()
    if (next === undefined) taken = false
    else next(held)
    return Promise.resolve()
  },
}
const session: Session = {
  lock: () => ({
    acquire: () => {
      if (taken) return new Promise((resolve) => waiting.push(resolve))
      taken = true
      return Promise.resolve(held)
    },
  }),
  troubles: () => 0,
  intact: () => true,
  close: () => undefined,
}

const load = JSON.parse(process.argv[2] ?? '{}') as Load
process.on('message', (message: Slot | 'end') => {
  if (message === 'end') process.exit()
  void runSlot({ sessions: [session], load, names: ['a'], hold: holding(0) }, message).then((sample) =>
    process.send?.(sample),
  )
})
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
process.send?.('ready')
