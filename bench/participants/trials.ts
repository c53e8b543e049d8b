/** Who is no good on purpose, so that the harness can be tried: in no table. */
import { setTimeout as sleep } from 'node:timers/promises'
import { holdfast } from './holdfast.js'
import type { Contender, Participant } from './participant.js'

/** Lets in whoever comes while `lapse` says so, whether the lock is taken or not. */
const broken = (name: string, lapse: (key: string) => boolean): Participant => ({
  ...holdfast,
  ...{ name, family: 'trial' },
  async open(url, lease) {
    const session = await holdfast.open(url, lease)
    const lock = (...which: Parameters<typeof session.lock>): Contender => {
      const sound = session.lock(...which)
      return {
        acquire: async () => (lapse(which[1]) ? { release: () => Promise.resolve() } : sound.acquire()),
      }
    }
    return { ...session, lock }
  },
})

let acquired = 0

/** Excludes nobody. */
export const open = broken('trial: open to all', () => true)

/** Lets in one of a hundred, and never when it is probed. */
export const leaky = broken('trial: one of a hundred', (key) => !key.endsWith(':probe') && ++acquired % 100 === 0)

/** Sound, and a timer later each time. */
export const slowed: Participant = {
  ...holdfast,
  ...{ name: 'trial: slowed', family: 'trial' },
  async open(url, lease) {
    const session = await holdfast.open(url, lease)
    const lock = (...which: Parameters<typeof session.lock>): Contender => {
      const quick = session.lock(...which)
      return {
        async acquire() {
          await sleep(1)
          return quick.acquire()
        },
      }
    }
    return { ...session, lock }
  },
}

export const trials: readonly Participant[] = [open, leaky, slowed]
