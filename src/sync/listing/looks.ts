import type { LockEvent } from '../../api/watching.js'
import type { Runtime } from '../../core/client/runtime.js'
import { EngineError } from '../../errors.js'
import { numberOf } from '../../keys.js'
import { text, tuple } from '../../lua/reply-shape.js'
import { Causes, type Ended } from './causes.js'
import { type Change, changesOf } from './changes.js'
import type { Spell } from './published-claims.js'
import { keepKnown, type People, type Person } from './people.js'
import { Labels, type ListHome } from './listed-lock.js'
import type { News, Target } from './targets.js'

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
  /** The monotonic clock before it. */
  readonly mono: number
  readonly labels: Labels
  readonly round: Round
}

const microtime = tuple(text, text)

/** The server's clock. For a user who may not ask for it, this machine's. */
const serverNow = async ({ link, options: { clock } }: Runtime, route: string): Promise<number> => {
  try {
    const [seconds, micros] = await link.command(['TIME'], microtime, { route })
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  } catch (error) {
    if (error instanceof EngineError && error.code === 'NOPERM') return clock.now()
    throw error
  }
}

/** Asks the server about some locks, and tells what has changed since it was last asked. */
export class Looks {
  readonly #home: ListHome
  readonly #causes: Causes
  #labels: Labels

  constructor(home: ListHome) {
    this.#home = home
    this.#causes = new Causes(home.runtime)
    this.#labels = new Labels(home)
  }

  /** Labels may change, and clients come and go: they are read again in each round. */
  begin(): void {
    this.#labels = new Labels(this.#home)
  }

  /** The events that can be told now. */
  async at(targets: readonly Target[], roundNow: () => Round): Promise<readonly LockEvent[]> {
    const { runtime } = this.#home
    const [{ key } = { key: '' }] = targets
    const mono = runtime.options.clock.monotonic()
    const asked = serverNow(runtime, key)
    // If the locks cannot be read, nobody waits for it.
    asked.catch(() => undefined)
    const refusals: EngineError[] = []
    const read = await Promise.all(targets.map((target) => target.read(this.#home, asked, refusals)))
    const at = await serverNow(runtime, key)
    const look = { at, mono, labels: this.#labels, round: roundNow() }
    await Promise.all(targets.map((target) => this.#settle(target)))
    for (const [i, target] of targets.entries()) {
      const people = read[i]
      if (people !== undefined) await compare(target, people, look)
    }
    // A lock that was asked for by its name would look free.
    if (targets.length === 1 && targets[0]?.looked === undefined && refusals[0] !== undefined) throw refusals[0]
    return targets.flatMap((target) => told(target))
  }

  /** Looks for the causes that were not known at the look before. */
  async #settle({ news }: Target): Promise<void> {
    const open = news.filter(({ ended }) => ended !== undefined).slice(0, AT_ONCE)
    await Promise.all(
      open.map(async (one) => {
        const cause = await this.#causes.of(one.ended as Ended)
        if (cause === undefined) return
        one.event = { ...one.event, ...cause }
        one.ended = undefined
      }),
    )
  }
}

/** Takes out what can be told: everything up to the first event whose type is not known yet. */
const told = (target: Target): readonly LockEvent[] => {
  const open = target.news.findIndex(({ ended }) => ended !== undefined)
  return target.news.splice(0, open < 0 ? target.news.length : open).map(({ event }) => event)
}

/** Notes what has changed. */
const compare = async (target: Target, people: People, look: Look): Promise<void> => {
  const before = target.people
  keepKnown(people.holders, before.holders)
  keepKnown(people.holders, before.waiting)
  keepKnown(people.waiting, before.waiting)
  const changes = changesOf(before, people)
  const fresh = changes.filter(({ type }) => type === 'granted' || type === 'waiting')
  await introduce(target, fresh, look)
  for (const change of changes) target.news.push(newsOf(target, change, look))
  target.people = people
  target.looked = { at: look.at, mono: look.mono }
}

const sinceOf = (target: Target, { owner, client }: Person, part: 'holds' | 'waits'): number | undefined => {
  const fits = (spell: Spell | undefined): boolean => spell?.[0] === numberOf(owner)
  for (const { spells } of target.claims.values()) {
    const spell = spells.get(client)?.[part]
    if (fits(spell)) return spell?.[1]
  }
  return undefined
}

/** Finds out who those are that were not there before. */
const introduce = async (target: Target, fresh: readonly Change[], { at, labels }: Look): Promise<void> => {
  const strangers = fresh.filter(({ person }) => person.label === undefined)
  const known = strangers.length === 0 ? undefined : await labels.of(strangers.map(({ person }) => person.client))
  for (const { type, person } of fresh) {
    person.label ??= known?.get(person.client)
    const since = sinceOf(target, person, type === 'granted' ? 'holds' : 'waits')
    person.since = since ?? (target.looked === undefined ? undefined : at)
  }
}

const newsOf = (target: Target, { type, person, certain }: Change, { at, mono, round }: Look): News => {
  const { name, key, kind, looked } = target
  const { owner, client, label, mode, keys, since, until } = person
  const expired = until !== undefined && until <= at
  const event: LockEvent = {
    ...{ type: type === 'ended' ? (expired ? 'expired' : 'released') : type, name, key, kind, owner, client },
    ...(label !== undefined && { label }),
    ...(mode !== undefined && { mode }),
    ...(keys !== undefined && { keys }),
    at,
    ...(looked !== undefined && { within: at - looked.at }),
    ...(since !== undefined && { since }),
    certain,
    ...(round.initial && looked === undefined && { initial: true as const }),
    ...(round.merged && { merged: true as const }),
  }
  return type === 'ended' && !expired ? { event, ended: endedOf(target, person, mono) } : { event, ended: undefined }
}

const endedOf = (target: Target, person: Person, noticed: number): Ended => {
  const spells = [...target.claims.values()].flatMap(({ spells }) => spells.get(person.client) ?? [])
  const fields = spells.flatMap((each) => each.fields)
  const side = person.mode === 'read' || person.mode === 'write' ? `.${person.mode}` : ''
  return {
    ...{ key: target.key, person, noticed, before: target.looked?.mono ?? noticed },
    fields: fields.length > 0 ? fields : [`${target.kind}${side} ${target.key}`],
    published: spells.some(({ holds }) => holds?.[0] === numberOf(person.owner)),
  }
}
