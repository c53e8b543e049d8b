// @ts-check
/** The clients whose locks the dashboard shows: a process of its own. Its parent says how many, and asks how many hand-overs there were. */
import { setInterval } from 'node:timers'
import { connect } from '../../dist/index.js'

/** @typedef {{ url: string, locks: number, waiters: number, rate: number }} Load */

/** Each lock is held by one of these clients, and the others wait for it: a client has one place in the line of a lock. */
const CLIENTS = 5
/** So many calls are sent before the first of them is answered. */
const AT_ONCE = 500

/** @param {Load} load */
const begin = async ({ url, locks, waiters, rate }) => {
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, i) => connect({ url, label: `worker-${i}`, commandTimeout: 60_000 })),
  )
  /** @type {Map<number, { hold: import('../../dist/index.js').Hold, by: number }>} */
  const held = new Map()

  /** @param {number} lock @param {number} by */
  const queue = (lock, by) =>
    clients[by]
      ?.lock(`order:${lock}`)
      .acquire()
      .then((hold) => {
        held.set(lock, { hold, by })
      })
      .catch((error) => console.error(String(error)))

  const perLock = Math.round(waiters / locks)
  for (let first = 0; first < locks; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, locks - first) }, (_, i) => first + i)
    await Promise.all(some.map((lock) => queue(lock, lock % CLIENTS)))
    for (const lock of some) for (let n = 1; n <= perLock; n += 1) void queue(lock, (lock + n) % CLIENTS)
  }
  let next = 0
  let owed = 0
  let handed = 0
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    owed = Math.min(rate, owed + ((now - last) * rate) / 1000)
    last = now
    for (; owed >= 1; owed -= 1) {
      const lock = (next = (next + 1) % locks)
      const one = held.get(lock)
      if (one === undefined) continue
      held.delete(lock)
      handed += 1
      void one.hold.release().then(() => queue(lock, one.by))
    }
  }, 5)
  process.on('message', (message) => {
    if (message === 'count') process.send?.({ handOvers: handed, held: held.size })
  })
  process.send?.('ready')
}

process.once('message', (load) => void begin(/** @type {Load} */ (load)))
process.once('disconnect', () => process.exit(0))
