import { inGo } from './go-member.js'
import type { Participant } from './participant.js'

/** README of redsync: one Mutex per owner, on a pool of go-redis. It polls, and polls soonest with a retry delay of 1 ms. */
export const redsync: Participant = {
  name: 'redsync',
  family: 'redsync',
  file: 'bench/peers/go/redsync/main.go',
  setup:
    'redsync in Go on go-redis, one client in each process, a goroutine for each caller; WithExpiry 30 s, WithTries without end, WithRetryDelay 1 ms',
  kinds: ['lock'],
  waits: true,
  memory: false,
  // One calls Extend oneself.
  renews: false,
  keyOf: (name) => name,
  // SET … NX; its scripts call GET and DEL.
  direct: ['set'],
  ...inGo('redsync', 'github.com/go-redsync/redsync/v4'),
}
