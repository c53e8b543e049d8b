import { seeded } from '../../../support/random.js'
import type { Program } from '../support/programs.js'

/** Whoever waits without a limit, and all leases alike: deadlines can be compared to the allowance. */
export const FAIR_PROGRAMS: Readonly<Record<string, Program>> = {
  'first come, first served':
    'X lock; Y lock &; Z lock &; W lock &; X unlock; Y wait; Y unlock; Z wait; Z unlock; W wait; W unlock',
  'queues again behind the others':
    'X lock; Y lock &; Z lock &; X unlock; Y wait; X lock &; W lock &; Y unlock; Z wait; Y lock &; Z unlock; X wait; ' +
    'X unlock; W wait; W unlock; Y wait; Y unlock',
  'tried while others wait':
    'X lock; Y lock &; Z tryLock; Z tryLock 0; X tryLock; X unlock; X unlock; Y wait; Z tryLock; X tryLock; Y unlock; ' +
    'Z tryLock; Z unlock',
  'taken again while others wait':
    'X lock; Y lock &; X lock; Z lock &; X lock; X holdCount; X unlock; X unlock; X unlock; Y wait; Y lock; Y unlock; ' +
    'X unlock; Y unlock; Z wait; Z unlock',
  'given back by who waits behind':
    'X lock; Y lock &; W unlock; Z lock &; W unlock; X unlock; Y wait; X unlock; Y unlock; Z wait; X unlock; Z unlock; X unlock',
  'taken away while others wait':
    'X lock; Y lock &; Z lock &; W forceUnlock; Y wait; X unlock; X forceUnlock; Z wait; Y unlock; Z unlock',
  'asked about while others wait':
    'X lock; Y lock &; X isLocked; X isHeld; X holdCount; W isHeld; W holdCount; W remainTimeToLive; X unlock; Y wait; ' +
    'X isHeld; X holdCount; Y isHeld; Y holdCount; Y unlock',
}

/** Limits and leases of their own change what Redisson counts deadlines from. */
export const LIMITED_PROGRAMS: Readonly<Record<string, Program>> = {
  'the last gives up': 'X lock; Y lock &; Z tryLock 300 10000; W lock &; X unlock; Y wait; Y unlock; W wait; W unlock',
  'one in the middle gives up':
    'X lock; Y lock &; Z tryLock 2500 10000 &; W lock &; Z wait; X unlock; Y wait; Y unlock; W wait; W unlock',
  'the first gives up':
    'X lock; Y tryLock 2500 10000 &; Z lock &; W lock &; Y wait; X unlock; Z wait; Z unlock; W wait; W unlock',
  'all give up':
    'X lock; Y tryLock 2000 10000 &; Z tryLock 5500 10000 &; Y wait; Z wait; W tryLock; X unlock; W tryLock; W unlock',
  'waited for with limits, and had':
    'X lock; Y tryLock 20000 10000 &; Z tryLock 40000 60000 &; W lock 60000 &; X unlock; Y wait; Y unlock; Z wait; ' +
    'Z unlock; W wait; W unlock',
  'leases run out': 'X lock 3000; Y lock 60000 &; Z lock &; Y wait; X unlock; Y unlock; Z wait; Z unlock',
}

const QUESTIONS = ['isLocked', 'isHeld', 'holdCount', 'remainTimeToLive']

/** Steps drawn by lot by four parties, who queue and are served in their order. Everything is free at its end. */
export const randomFairProgram = (seed: number, length: number): Program => {
  const random = seeded(seed)
  const among = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const steps: string[] = []
  const queue: string[] = []
  let holder: string | undefined
  let levels = 0

  const freed = (): void => {
    holder = queue.shift()
    levels = holder === undefined ? 0 : 1
    if (holder !== undefined) steps.push(`${holder} wait`)
  }
  const take = (who: string, step: string): void => {
    steps.push(`${who} ${step}`)
    if (holder !== undefined && holder !== who) return
    holder = who
    levels += 1
  }
  const unlock = (who: string): void => {
    steps.push(`${who} unlock`)
    if (holder !== who) return
    levels -= 1
    if (levels === 0) freed()
  }
  const force = (who: string): void => {
    steps.push(`${who} forceUnlock`)
    freed()
  }

  while (steps.length < length) {
    const who = among(['W', 'X', 'Y', 'Z'])
    const draw = random()
    if (queue.includes(who)) continue
    if (draw < 0.3 && holder !== undefined && holder !== who) {
      queue.push(who)
      steps.push(`${who} lock &`)
    } else if (draw < 0.45) take(who, holder === undefined || holder === who ? 'lock' : 'tryLock')
    else if (draw < 0.55) take(who, among(['tryLock', 'tryLock 0']))
    else if (draw < 0.85) unlock(who)
    else if (draw < 0.89) force(who)
    else if (draw < 0.9 && holder !== undefined && holder !== who) steps.push(`${who} tryLock 60`)
    else steps.push(`${who} ${among(QUESTIONS)}`)
  }
  while (holder !== undefined) force(holder)
  return steps.join('; ')
}
