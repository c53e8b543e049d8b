import type { CallEvent, CallStep } from 'holdfast/testing'
import type { WorkEvent } from './java-lock.js'

/** What one process told of its work on one lock. */
export interface Life {
  readonly who: string
  readonly side: 'java' | 'node'
  /** Of Redisson's: what its owners begin with on the wire. */
  readonly client?: string
  readonly events: WorkEvent[]
  /** When it was seen to be dead; undefined: it lives, or ended well. */
  diedAt?: number
}

const STEPS: Readonly<Record<WorkEvent['event'], CallStep | undefined>> = {
  invoke: 'invoke',
  granted: 'granted',
  checked: 'checked',
  releasing: 'releasing',
  released: 'released',
  failed: 'lost',
  lost: 'lost',
  refused: 'refused',
  orphan: undefined,
}

/** The events as calls, for the history checker. `watchdog`: how long the server keeps what was taken without a lease, ms. */
export const callsOf = ({ who, side, events, diedAt }: Life, name: string, watchdog: number): CallEvent[] => {
  const open = new Map<string, Pick<CallEvent, 'call' | 'mode'>>()
  const told: CallEvent[] = []
  events.forEach(({ worker, event, at, lease: given, mode, until }, index) => {
    const what = STEPS[event]
    if (what === undefined) return
    if (what === 'invoke') {
      open.set(worker, { call: `${who}/${worker}/${index}`, mode: mode === 'read' ? 'shared' : 'exclusive' })
    }
    const call = open.get(worker) ?? { call: `${who}/${worker}/none` }
    if (what === 'released' || what === 'lost' || what === 'refused') open.delete(worker)
    const lease = given === undefined ? undefined : given > 0 ? given : watchdog
    // Redisson does not say for how long it trusts its hold: a caller can count on the lease less what the answer took.
    const trust = until ?? (what === 'granted' && side === 'java' && lease !== undefined ? at + 0.8 * lease : undefined)
    told.push({ ...call, at, what, process: who, name, lease, until: trust })
  })
  if (diedAt === undefined) return told
  const crashed = [...open.values()].map((call): CallEvent => ({
    ...call,
    at: diedAt,
    what: 'crashed',
    process: who,
    name,
  }))
  return [...told, ...crashed]
}
