import type { Reported } from '../../core/client/observed-call.js'
import { NumberedLock } from '../fenced-lock/fenced-lock.js'

const ELECTION = { name: 'election' }

/** The lock of an election. Its events have a kind of their own, because a candidate waits, and a leader holds it, for as long as they live. */
export class LeaderLock extends NumberedLock {
  protected override get reported(): Reported {
    return { name: this.name, kind: ELECTION }
  }
}
