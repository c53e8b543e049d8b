import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '../participants/participant.js'
import type { Holding } from './hold.js'
import { PATIENCE_AT_END, type Load, type Sample, type Slot } from '../base/load.js'
import { Recorder, machineTime } from '../base/stats.js'

/** What a process keeps from slot to slot. */
export interface Post {
  /** One for all callers, or one for each. */
  readonly sessions: readonly Session[]
  readonly load: Load
  readonly names: readonly string[]
  readonly hold: Holding
}

/** The callers of one process, for one slot. */
export const runSlot = async ({ sessions, load, names, hold }: Post, slot: Slot): Promise<Sample> => {
  const { places = 1, reads } = load
  const locks = sessions.map((session) => names.map((name) => session.lock(load.kind, name, places)))
  const readers = reads === undefined ? locks : sessions.map((one) => names.map((name) => one.lock('readLock', name)))
  const inside = new Int32Array(names.length)
  const visits = Array.from({ length: load.callers }, () => 0)
  const waits = new Recorder()
  const stays = new Recorder()
  const waitsSince = new Float64Array(load.callers).fill(Infinity)
  const single = load.names === 'one' && load.locks === undefined
  const shared = load.processes > 1 && single && load.kind !== 'limiter'
  let [pairs, total, crowded, held, gone, longest] = [0, 0, 0, 0, 0, 0]

  await sleep(Math.max(0, slot.startAt - Date.now()))
  const cpu = process.cpuUsage()
  const from = performance.now() + slot.warm * 1000
  const until = from + slot.seconds * 1000

  const caller = async (index: number): Promise<void> => {
    let place = index % names.length
    const whose = index % sessions.length
    // Those that poll would all do it at the same moment, again and again, and nearly all in vain.
    if (load.pollMs !== undefined) await sleep(Math.random() * load.pollMs)
    for (let asked = performance.now(); asked < until; asked = performance.now()) {
      const isRead = reads !== undefined && Math.random() < reads
      const takes = reads === undefined || isRead ? 1 : places
      waitsSince[index] = asked
      const mine = await (isRead ? readers : locks)[whose]![place]!.acquire()
      const had = performance.now()
      waitsSince[index] = Infinity
      if (had >= from && had - asked > longest) longest = had - asked
      inside[place]! += takes
      if (inside[place]! > places && load.kind !== 'limiter') crowded++
      const entered = shared ? machineTime() : 0
      // One turn at least, or a second holder could not be seen.
      await hold(slot.holdMs)
      inside[place]! -= takes
      total++
      if (had >= from && had < until) {
        pairs++
        visits[index]!++
      }
      if (asked >= from) waits.add(had - asked)
      if (shared) {
        const left = machineTime()
        held += (left - entered) / 1000
        for (let i = 0; i < takes; i++) {
          stays.add(entered)
          stays.add(left)
        }
      }
      await mine.release()
      place = (place + load.callers) % names.length
    }
    gone++
  }
  const callers = Promise.all(Array.from({ length: load.callers }, (_, index) => caller(index)))
  const all = new AbortController()
  const patience = load.endless === true ? 0 : (slot.patience ?? PATIENCE_AT_END)
  await Promise.race([callers, sleep(until + patience - performance.now(), undefined, { signal: all.signal })])
  all.abort()
  const asleep = load.endless === true ? 0 : load.callers - gone
  const { user, system } = process.cpuUsage(cpu)
  const now = performance.now()
  longest = waitsSince.reduce((most, since) => Math.max(most, now - since), longest)
  const counts = { pairs, total, crowded, visits, held, cpu: user + system, asleep, longest }
  return { ...counts, waits: waits.values, stays: stays.values }
}

/** Whether a lock that one client has, in all its places, stays closed to another call until it is given back. */
const closedTo = async (rival: Session, one: Session, load: Load, name: string): Promise<boolean> => {
  const wanted = load.reads === undefined ? (load.places ?? 1) : 1
  const places = Array.from({ length: wanted }, () => one.lock(load.kind, name, load.places).acquire())
  const first = await Promise.all(places)
  let [early, freed] = [false, false]
  const attempt = async (): Promise<void> => {
    const held = await rival.lock(load.kind, name, load.places).acquire()
    early = !freed
    await held.release()
  }
  // Who does not wait is refused.
  const over = attempt().catch(() => undefined)
  await sleep(30)
  freed = true
  await Promise.all(first.map((held) => held.release()))
  await over
  return !early
}

/** To the client that has it and to another one; one after the other, as a peer may lose a wake-up where two wait. */
export const excludes = async (one: Session, other: Session, load: Load, name: string): Promise<boolean> =>
  load.kind === 'limiter' || ((await closedTo(one, one, load, name)) && (await closedTo(other, one, load, name)))
