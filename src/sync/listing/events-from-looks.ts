import type { LockEvent } from '../../api/watching.js'
import { EngineError } from '../../errors.js'
import { numberOf } from '../../keys.js'
import { text, tuple } from '../../lua/reply-shape.js'
import { WhyHoldsEnded, type Ended, GAP, hasExpired, type Note } from './why-holds-ended.js'
import { type Change, changesOf } from './changes-between-looks.js'
import type { Spell } from './published-claims.js'
import { isPartAway } from './skipped-locks.js'
import { keepKnown, type HoldersAndWaiters, type Person } from './holders-and-waiters.js'
import { Labels, type ListHome } from './listed-lock.js'
import type { News, WatchedLock } from './watched-locks.js'

/** How many causes of one lock are looked for at a time. */
const AT_ONCE = 64

/** What is the same for all news of one round. */
export interface Round {
  readonly initial: boolean
  readonly merged: boolean
}

/** One look at some locks. */
interface Look {
  /** The server's time after it. */
  readonly at: number
  /** The monotonic clock before it, and after it. */
  readonly began: number
  readonly done: number
  readonly labels: Labels
  readonly round: Round
}

const microtime = tuple(text, text)

/** Asks the server about some locks, and tells what has changed since it was last asked. */
export class EventsFromLooks {
  readonly #home: ListHome
  readonly #named: boolean
  readonly #causes: WhyHoldsEnded
  #labels: Labels
  /** How far the server's clock is ahead of this machine's, ms, as far as that is known. */
  #ahead = 0

  /** `named`: it is only about the lock that was asked for by its name. */
  constructor(home: ListHome, named: boolean) {
    this.#home = home
    this.#named = named
    this.#causes = new WhyHoldsEnded(home.runtime)
    this.#labels = new Labels(home)
  }

  /** Labels may change, and clients come and go: they are read again in each round. */
  begin(): void {
    this.#labels = new Labels(this.#home)
  }

  /** The events that can be told now. */
  async at(targets: readonly WatchedLock[], roundNow: () => Round): Promise<readonly LockEvent[]> {
    const { clock } = this.#home.runtime.options
    const { key } = targets.find(({ missed }) => !missed) ?? targets[0] ?? { key: '' }
    const began = clock.monotonic()
    const asked = this.#serverNow(key)
    // If the locks cannot be read, nobody waits for it.
    asked.catch(() => undefined)
    const refusals: EngineError[] = []
    const read = await Promise.all(targets.map((target) => target.read(this.#home, asked, refusals)))
    const at = await this.#serverNow(key)
    const look = { at, began, done: clock.monotonic(), labels: this.#labels, round: roundNow() }
    await Promise.all(targets.map((target) => this.#settle(target)))
    for (const [i, target] of targets.entries()) {
      const people = read[i]
      target.missed ||= people === undefined
      if (people !== undefined) await compare(target, people, look)
    }
    // A lock that was asked for by its name would look free.
    if (this.#named && targets[0]?.looked === undefined && refusals[0] !== undefined) throw refusals[0]
    return targets.flatMap((target) => told(target))
  }

  /** The server's clock. For a user who may not ask for it, or if that node of a cluster is away, this machine's. */
  async #serverNow(route: string): Promise<number> {
    const { runtime } = this.#home
    const { clock } = runtime.options
    try {
      const [seconds, micros] = await runtime.link.command(['TIME'], microtime, { route })
      const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
      this.#ahead = now - clock.now()
      return now
    } catch (error) {
      const refused = error instanceof EngineError && error.code === 'NOPERM'
      if (!refused && !isPartAway(runtime, error)) throw error
      return clock.now() + this.#ahead
    }
  }

  /** Looks for the causes that were not known at the look before. */
  async #settle({ key, news }: WatchedLock): Promise<void> {
    const open = news.filter(({ ended }) => ended !== undefined)
    if (open.length === 0) return
    const note = this.#causes.noteOf(key)
    note.catch(() => undefined)
    for (let from = 0; from < open.length; from += AT_ONCE)
      await Promise.all(open.slice(from, from + AT_ONCE).map((one) => this.#settleOne(one, note)))
  }

  async #settleOne(one: News, note: Promise<Note | undefined>): Promise<void> {
    const cause = one.ended && (await this.#causes.of(one.ended, note))
    if (cause === undefined) return
    one.event = { ...one.event, ...cause }
    one.ended = undefined
  }
}

/** Takes out what can be told: everything up to the first event whose type is not known yet. */
const told = (target: WatchedLock): readonly LockEvent[] => {
  const open = target.news.findIndex(({ ended }) => ended !== undefined)
  return target.news.splice(0, open < 0 ? target.news.length : open).map(({ event }) => event)
}

/** Notes what has changed. */
const compare = async (target: WatchedLock, people: HoldersAndWaiters, look: Look): Promise<void> => {
  const before = target.people
  keepKnown(people.holders, before.holders)
  keepKnown(people.holders, before.waiting)
  keepKnown(people.waiting, before.waiting)
  const changes = changesOf(before, people)
  const fresh = changes.filter(({ type }) => type === 'granted' || type === 'waiting')
  await introduce(target, fresh, look)
  for (const change of changes) target.news.push(newsOf(target, change, look))
  target.people = people
  target.looked = { at: look.at, mono: look.began }
  target.missed = false
}

const sinceOf = (target: WatchedLock, { owner, client }: Person, part: 'holds' | 'waits'): number | undefined => {
  const fits = (spell: Spell | undefined): boolean => spell?.[0] === numberOf(owner)
  for (const { spells } of target.claims.values()) {
    const spell = spells.get(client)?.[part]
    if (fits(spell)) return spell?.[1]
  }
  return undefined
}

/** Finds out who those are that were not there before. */
const introduce = async (target: WatchedLock, fresh: readonly Change[], { at, labels }: Look): Promise<void> => {
  const strangers = fresh.filter(({ person }) => person.label === undefined)
  const known = strangers.length === 0 ? undefined : await labels.of(strangers.map(({ person }) => person.client))
  for (const { type, person } of fresh) {
    person.label ??= known?.labels.get(person.client)
    const since = sinceOf(target, person, type === 'granted' ? 'holds' : 'waits')
    person.since = since ?? (target.looked === undefined ? undefined : at)
  }
}

const newsOf = (target: WatchedLock, { type, person, certain }: Change, { at, done, round }: Look): News => {
  const { name, key, kind, looked, missed } = target
  const { owner, client, label, mode, keys, since } = person
  const expired = type === 'ended' && hasExpired(person, at)
  const late = looked !== undefined && done - looked.mono > GAP
  const event: LockEvent = {
    ...{ type: expired ? 'expired' : type === 'ended' ? 'released' : type, name, key, kind, owner, client },
    ...(label !== undefined && { label }),
    ...(mode !== undefined && { mode }),
    ...(keys !== undefined && { keys }),
    at,
    ...(looked !== undefined && { within: at - looked.at }),
    ...(since !== undefined && { since }),
    certain: certain && !(expired && late),
    ...(round.initial && looked === undefined && { initial: true as const }),
    ...((round.merged || late || (missed && looked !== undefined)) && { merged: true as const }),
  }
  return type === 'ended' && !expired ? { event, ended: endedOf(target, person, done) } : { event, ended: undefined }
}

const endedOf = (target: WatchedLock, person: Person, noticed: number): Ended => {
  // A client may publish that it has released the lock before anybody sees that.
  const claims = [...target.claims.values(), ...target.claimsBefore.values()]
  const spells = claims.flatMap((claim) => claim.spells.get(person.client) ?? [])
  const fields = [...new Set(spells.flatMap((each) => each.fields))]
  const side = person.mode === 'read' || person.mode === 'write' ? `.${person.mode}` : ''
  return {
    ...{ key: target.key, person, noticed, before: target.looked?.mono ?? noticed },
    fields: fields.length > 0 ? fields : [`${target.kind}${side} ${target.key}`],
    published: spells.some(({ holds }) => holds?.[0] === numberOf(person.owner)),
  }
}
