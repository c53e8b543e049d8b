import { requirePeer, versionOf } from '../base/paths.js'
import type { Participant } from './participant.js'
import { type RedlockClass, openRedlock, redlock5 } from './redlock-5.js'

/** It derives from redlock 5, and its README says the same. */
export const sesamecareRedlock: Participant = {
  ...redlock5,
  name: '@sesamecare-oss/redlock',
  family: 'sesamecare',
  variant: true,
  file: 'bench/participants/sesamecare-redlock.ts',
  version: () => versionOf('bench/peers/node_modules/@sesamecare-oss/redlock'),
  open: (url, lease = 30_000, pollMs = 1) =>
    openRedlock((requirePeer('@sesamecare-oss/redlock') as { Redlock: RedlockClass }).Redlock, url, lease, pollMs),
}
