import type { ListedHolder, ListedLock } from '../../api/listing.js'
import { plainText } from '../../plain-text.js'
import { spanOf } from '../text/time-span.js'
import { WIDTH, wrapped } from '../text/wrap.js'
import { seemsGone, type Sign, unknownAmong } from './signs.js'

/** For how many holders the command that releases them is shown. */
const SHOWN = 5

/** A hold with the usual lease of its client is renewed when a third of it is over. More ms than this beyond are no delay. */
const LATE = 1000

/** What shows whether the client of a holder is alive. */
export const signText = (sign: Sign, { owner }: ListedHolder): string => {
  switch (sign.is) {
    case 'alive':
      return `alive ${spanOf(sign.ago)} ago: it writes its label every ${spanOf(sign.lease / 3)}`
    case 'overdue':
      return `silent for ${spanOf(sign.ago)}; a live client writes its label every ${spanOf(sign.lease / 3)}`
    case 'labelled':
      return 'has a label'
    case 'silent':
      return 'silent: its label has expired'
    case 'unlabelled':
      return 'no label: the client is gone, or it never wrote one'
    case 'redisson':
      return `a client of Redisson, thread ${plainText(owner.slice(37))}: nothing shows if it is alive`
    case 'unknown':
      return 'its label cannot be read: nothing shows if it is alive'
  }
}

/** What is known of the lease. Only a reading later on shows whether it is renewed. */
export const leaseText = ({ remaining }: ListedLock, signs: readonly Sign[]): readonly string[] => {
  if (remaining === undefined) return []
  if (remaining === Infinity) return ['has no end: another program removed it from the key']
  const ends = `ends in ${spanOf(remaining)}`
  const [sign] = signs
  if (sign === undefined || signs.length > 1) return [`${ends}, unless it is renewed`]
  if (sign.is === 'silent' || sign.is === 'overdue') return [`${ends}: a client that is silent renews nothing`]
  if (sign.is !== 'alive') return [`${ends}, unless it is renewed`]
  if (remaining > sign.lease) return [`${ends}: the code set this lease. A fixed one is not renewed`]
  if (remaining + sign.ago < (2 * sign.lease) / 3 - LATE)
    return [`${ends}: the code set a lease of its own, unless the client is late`]
  return [`${ends}, unless it is renewed`]
}

const PASS = 'To release the lock all the same, pass the owner above to holdfast unlock --owner.'

const ADVICE = {
  endless:
    'If its client is alive and renews it, the lease has an end again within a third of the usual one, 10 s by default: look once more then. Otherwise it stays locked until somebody releases it:',
  gone: 'The lock is free when the lease is over. If you are sure that the process has ended, release it now:',
  alive: `The client is alive, which does not show that its work goes on: look at that process first. ${PASS}`,
} as const

/** After half of the time that is left, a lock that is renewed has at least two thirds of its lease left, and that is more than this half. */
const unsureText = (remaining: number): string => {
  const half = spanOf(remaining / 2)
  return `Show the lock again in ${half}. If clearly more than ${half} is left then, the lease was renewed, and the client is alive. If about ${half} or less is left, it was not renewed: the client is dead or cut off, or it is late, or the lease is a fixed one.`
}

const RELEASE = 'Calls wait for the lock. Find the process; if you are sure that it has ended, release the lock:'

/** What to do. The command that releases a healthy lock is not shown, so that nobody runs it by mistake. */
export const advice = (
  lock: ListedLock,
  signOf: (holder: ListedHolder) => Sign,
  commandFor: (owner: string) => string,
): readonly string[] => {
  const { holders, remaining = 0 } = lock
  if (holders.length === 0) return []
  const text = (of: string): readonly string[] => ['', ...wrapped(of, WIDTH)]
  const releases = (some: readonly ListedHolder[]): readonly string[] => [
    ...some.slice(0, SHOWN).flatMap(({ owner }) => `  ${commandFor(owner)}`.split('\n')),
    ...(some.length > SHOWN ? [`  … and ${some.length - SHOWN} other holders`] : []),
  ]
  if (remaining === Infinity) return [...text(ADVICE.endless), ...releases(holders)]
  const gone = holders.filter((holder) => seemsGone(signOf(holder)))
  if (gone.length > 0) return [...text(ADVICE.gone), ...releases(gone)]
  if (holders.every((holder) => signOf(holder).is === 'alive')) return text(ADVICE.alive)
  const unsure = unsureText(remaining)
  const unknown = unknownAmong(lock)
  return unknown.length === 0 ? text(`${unsure} ${PASS}`) : [...text(`${unsure} ${RELEASE}`), ...releases(unknown)]
}
