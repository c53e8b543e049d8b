/** Who is no good on purpose, so that the harness can be tried: in no table. */
import { setTimeout as sleep } from 'node:timers/promises'
import { holdfast } from './holdfast.js'
import type { Contender, Held, Participant } from './participant.js'

type Acquire = Contender['acquire']

/** As `of` makes it of a sound one. */
const trial = (name: string, of: (acquire: Acquire, key: string) => Acquire): Participant => ({
  ...holdfast,
  ...{ name, family: 'trial' },
  async open(url, lease) {
    const session = await holdfast.open(url, lease)
    const lock = (...which: Parameters<typeof session.lock>): Contender => {
      const sound = session.lock(...which)
      return { acquire: of(() => sound.acquire(), which[1]) }
    }
    return { ...session, lock }
  },
})

const isProbed = (key: string): boolean => key.endsWith(':probe')
const nothing = { release: () => Promise.resolve() }

let acquired = 0
let sleeps = false

/** Excludes nobody. */
export const open = trial('trial: open to all', () => () => Promise.resolve(nothing))

/** Lets in one of a hundred, whether the lock is taken or not. */
export const leaky = trial('trial: one of a hundred', (acquire, key) => () => {
  return !isProbed(key) && ++acquired % 100 === 0 ? Promise.resolve(nothing) : acquire()
})

/** The first of a process is never called again. */
export const drowsy = trial('trial: one sleeps on', (acquire, key) => () => {
  if (isProbed(key) || sleeps) return acquire()
  sleeps = true
  return new Promise(() => undefined)
})

/** Until it has not been asked for so long, ms. */
const GRASP = 20

/** Excludes, and starves all others: each process keeps what it has for as long as its callers ask again. */
export const greedy = trial('trial: keeps it', (acquire) => {
  let kept: Held | undefined
  let letGo: NodeJS.Timeout
  return async () => {
    const mine = kept ?? (await acquire())
    clearTimeout(letGo)
    kept = undefined
    return {
      async release() {
        kept = mine
        letGo = setTimeout(() => {
          kept = undefined
          void mine.release()
        }, GRASP)
      },
    }
  }
})

/** Sound, and a timer later each time. */
export const slowed = trial('trial: slowed', (acquire) => async () => {
  await sleep(1)
  return acquire()
})

export const trials: readonly Participant[] = [open, leaky, drowsy, greedy, slowed]
