import type { ListedHolder, ListedLock } from '../../api/listing.js'
import { plainJson } from '../../plain-text.js'
import { isSilent } from './places.js'

/** Every field is always there; `null`: it is not known, or there is none. */
const personOf = (
  one: ListedLock['holders'][number] | ListedLock['waiting'][number],
  now: number,
): Readonly<Record<string, unknown>> => {
  const { owner, client, label, labelUnknown, since, keys } = one
  const age = since === undefined ? null : Math.max(0, Math.round(now - since))
  return {
    ...{ owner, client, label: label ?? null, labelUnknown: labelUnknown ?? null },
    ...{ since: since ?? null, age, keys: keys ?? null },
  }
}

const waitsOf = ({ waitsFor = [] }: ListedHolder): readonly Readonly<Record<string, unknown>>[] =>
  waitsFor.map(({ name, key, kind, mode, keys, since }) => ({
    ...{ name, key, kind },
    mode: mode ?? null,
    keys: keys ?? null,
    since,
  }))

/** A lock for programs: the schema is in docs/command-line.md. `now`: the server's time. `waits`: what the holders wait for was asked. */
export const lockJson = (lock: ListedLock, now: number, waits: boolean): Readonly<Record<string, unknown>> => {
  const { name, key, kind, holders, waiting, more = false, remaining, token, available, permits } = lock
  return {
    ...{ name, key, kind },
    holders: holders.map((one) => ({
      ...personOf(one, now),
      mode: one.mode,
      count: one.count,
      waitsFor: waits ? waitsOf(one) : null,
    })),
    waiting: waiting.map((one) => ({ ...personOf(one, now), silent: isSilent(one, now) })),
    more,
    // As PTTL: JSON has no Infinity.
    remaining: remaining === undefined ? null : remaining === Infinity ? -1 : remaining,
    // A number of JSON is not exact beyond 2^53.
    token: token === undefined ? null : String(token),
    available: available ?? null,
    permits: permits ?? null,
  }
}

/** On one line. */
export const jsonLine = (lock: ListedLock, now: number, waits = false): string =>
  plainJson(lockJson(lock, now, waits), 0)
