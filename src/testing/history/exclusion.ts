import type { Claim } from './hold-claims.js'
import { claimsAt, wordAfter, wordAgainst } from './hold-claims.js'
import type { CallEvent } from './events.js'
import type { Finding, LockRecord, Report } from './history-record.js'
import type { OutsideEvents } from './outside-events.js'

/** No two claims overlap, unless both are shared, or of one owner, or the earlier was taken away from outside. */
export const checkExclusion = (
  lock: LockRecord,
  claims: readonly Claim[],
  world: OutsideEvents,
  report: Report,
): void => {
  let shared: Claim[] = []
  let exclusive: Claim[] = []
  for (const claim of claims) {
    const lasting = (other: Claim): boolean => claimsAt(other, claim.start)
    exclusive = exclusive.filter(lasting)
    if (!claim.call.shared) shared = shared.filter(lasting)
    for (const other of claim.call.shared ? exclusive : [...exclusive, ...shared]) {
      const word = other.call.owner === claim.call.owner ? undefined : wrongWord(lock.name, other, claim, world)
      if (word !== undefined && !report(conflict(other, claim, word))) return
    }
    if (claim.call.shared) shared.push(claim)
    else exclusive.push(claim)
  }
}

/** What the earlier of two holds said that must not be; undefined: it is excused. */
const wrongWord = (name: string, earlier: Claim, later: Claim, world: OutsideEvents): CallEvent | undefined => {
  const excused = world.excusedUntil(name, earlier, later)
  return excused === undefined ? wordAgainst(earlier, later.start) : wordAfter(earlier, excused)
}

const conflict = (earlier: Claim, later: Claim, word: CallEvent): Finding => {
  const granted = later.start.event
  const [first, second] = word.at <= granted.at ? [word, granted] : [granted, word]
  return { rule: 'exclusion', name: granted.name, first, second, why: whyNot(earlier, later, word) }
}

const whyNot = (earlier: Claim, later: Claim, word: CallEvent): string => {
  const { at } = later.start.event
  const who = `call ${earlier.call.id} of ${earlier.call.process}`
  if (word.at > at) return `Call ${later.call.id} acquired the lock after ${who}, which says that it still holds it.`
  const until = word.until === undefined ? 'without end' : `for ${(word.until - at).toFixed(3)} ms more`
  const given = earlier.end === undefined ? 'never released it' : `released it ${late(earlier.end.event.at - at)} later`
  return `Call ${later.call.id} was granted while ${who} trusted its hold ${until}; it ${given}.`
}

const late = (ms: number): string => `${ms.toFixed(3)} ms`

/** Tokens grow in the order of holding; after a loss of data they begin again. */
export const checkFencing = (
  lock: LockRecord,
  claims: readonly Claim[],
  world: OutsideEvents,
  report: Report,
): void => {
  let highest: { readonly claim: Claim; readonly token: bigint } | undefined
  for (const claim of claims) {
    const { token: text, at } = claim.start.event
    if (text === undefined || world.wiped(lock.name, { from: at, to: at })) continue
    const token = BigInt(text)
    const before = highest
    const anew = before === undefined || world.wiped(lock.name, { from: before.claim.start.event.at, to: at })
    if (anew || token > before.token) {
      highest = { claim, token }
      continue
    }
    const mine = before.claim.call.owner === claim.call.owner && before.token === token
    if (mine || world.excusedUntil(lock.name, before.claim, claim) !== undefined) continue
    const why = `Token ${text} was granted after token ${before.token}: a resource that checks tokens would reject this holder.`
    const [first, second] = [before.claim.start.event, claim.start.event]
    if (!report({ rule: 'fencing', name: lock.name, first, second, why })) return
  }
}
