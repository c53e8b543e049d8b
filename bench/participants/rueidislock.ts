import { inGo } from './go-member.js'
import type { Participant } from './participant.js'

/** README of rueidislock, and what its options say of themselves: one server needs a majority of one; no news of one's own keys. */
export const rueidislock: Participant = {
  name: 'rueidislock',
  family: 'rueidislock',
  file: 'bench/peers/go/rueidislock/main.go',
  setup: 'rueidislock in Go, one locker in each process, a goroutine for each caller; KeyMajority 1, NoLoopTracking',
  kinds: ['lock'],
  waits: true,
  memory: false,
  renews: true,
  keyOf: (name) => `rueidislock:0:${name}`,
  // SET … NX and a GET, which lets it hear of the key; its scripts call GET, which is counted with them, and DEL.
  direct: ['set'],
  ...inGo('rueidislock', 'github.com/redis/rueidis'),
}
