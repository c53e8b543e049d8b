import { type Person, type ShownLock, WINDOW } from '../page-messages.js'
import type { Problem } from './problems.js'
import { edgeOf, HoldBar, PastBar, Track, WaitBar } from './track.js'
import { age, count, isShared, kindText, permitsText, ROLES, shown, spanOf, usedOf, whoIs } from './words.js'

/** How many further holders and waiters a lane shows, and how high its parts are in px. The style sheet has the same numbers. */
const MOST_HOLDERS = 4
const MOST_WAITERS = 4
const [HEAD, LINE, GAP] = [52, 26, 10]

export interface Limits {
  readonly holders: number
  readonly waiters: number
}
const OVERVIEW: Limits = { holders: MOST_HOLDERS, waiters: MOST_WAITERS }

const linesOf = ({ holders, holding, waiting, waiters }: ShownLock, limits: Limits): number => {
  const [held, waits] = [holders.slice(1, limits.holders), waiting.slice(0, limits.waiters)]
  const rest = holding > held.length + 1 || waiters > waits.length
  return held.length + waits.length + (rest ? 1 : 0)
}

/** px. `stacked`: on a narrow page the track of the lock stands below its name. */
export const laneHeight = (lock: ShownLock, stacked: boolean): number =>
  HEAD + (stacked ? 34 : 0) + linesOf(lock, OVERVIEW) * LINE + GAP

export const addressOf = (id: string): string => `#/lock/${encodeURIComponent(id)}`

interface LaneProps {
  readonly lock: ShownLock
  readonly now: number
  readonly level: Problem['level'] | undefined
  readonly limits?: Limits
  readonly place?: { readonly at: number; readonly of: number; readonly top: number }
}

const Lease = ({ lock, now }: { lock: ShownLock; now: number }) => {
  const { until, lease = 0 } = lock
  if (until === undefined) return null
  if (until === null) return <span class="lease never">the lease has no end</span>
  const left = Math.max(0, until - now)
  const part = lease > 0 ? Math.min(1, left / lease) : 0
  const look = lock.late === true ? 'late' : ''
  return (
    <span class={`lease ${look}`}>
      <span class="meter">
        <i style={{ transform: `scaleX(${part.toFixed(3)})` }} />
      </span>
      {spanOf(left)} left
    </span>
  )
}

const Used = ({ lock }: { lock: ShownLock }) => {
  const used = usedOf(lock)
  if (used === undefined) return null
  return (
    <span class={`lease ${used === 1 ? 'late' : ''}`}>
      <span class="meter">
        <i style={{ transform: `scaleX(${used.toFixed(3)})` }} />
      </span>
      {Math.floor(used * 100)} % used
    </span>
  )
}

/** Who holds it, and for how long. */
const State = ({ lock, now }: { lock: ShownLock; now: number }) => {
  const { holders, holding } = lock
  const [first] = holders
  if (isShared(lock)) return <span>{permitsText(lock)}</span>
  if (first === undefined) return <span class="quiet">free</span>
  return (
    <span>
      <b>{whoIs(first)}</b>
      {holding > 1 ? ` and ${count(holding - 1, 'other')}` : ''} <span class="quiet">{age(first, now)}</span>
    </span>
  )
}

const ModeOf = ({ one }: { one: Person }) => (one.mode === undefined ? null : <em class="tag">{one.mode}s</em>)

const LEVELS = { deadlock: 'deadlock', bad: 'holder silent', odd: 'renewal overdue' } as const

const Head = ({ lock, now, level }: LaneProps) => (
  <div class="head">
    <div class="line1">
      <a class="name" href={addressOf(lock.id)} data-lock={lock.id}>
        {shown(lock.name)}
      </a>
      <em class="tag">{kindText(lock.kind)}</em>
      {lock.role !== undefined && <em class="tag role">{ROLES[lock.role]}</em>}
      {level !== undefined && (
        <em class={`tag ${level}`}>{level === 'bad' && lock.until === null ? 'no expiry' : LEVELS[level]}</em>
      )}
    </div>
    <div class="line2">
      <State lock={lock} now={now} />
      {lock.holders[0] && <ModeOf one={lock.holders[0]} />}
      <Lease lock={lock} now={now} />
      <Used lock={lock} />
    </div>
  </div>
)

const lookOf = (lock: ShownLock, hold: Person, level: LaneProps['level']): string => {
  if (level === 'deadlock') return 'stuck'
  if (hold.sign === 'gone' || lock.until === null) return 'lost'
  return lock.late === true ? 'uncertain' : ''
}

const Holder = ({ lock, one, now, level }: LaneProps & { one: Person }) => (
  <div class="sub" key={one.id}>
    <div class="who">
      <span class="twig held" aria-hidden="true" />
      <b>{whoIs(one)}</b> <ModeOf one={one} /> <span class="quiet">holds it too, {age(one, now)}</span>
    </div>
    <Track now={now} edge={edgeOf([one], now)}>
      <HoldBar hold={one} now={now} look={lookOf(lock, one, level)} />
    </Track>
  </div>
)

const Waiter = ({ one, at, now }: { one: Person; at: number; now: number }) => (
  <div class="sub" key={one.id}>
    <div class="who">
      <span class="twig" aria-hidden="true" />
      <span class="place">{at}.</span> {whoIs(one)} <span class="quiet">waits {age(one, now)}</span>
    </div>
    <Track now={now}>
      <WaitBar wait={one} now={now} />
    </Track>
  </div>
)

const Rest = ({ lock, limits }: { lock: ShownLock; limits: Limits }) => {
  const holders = lock.holding - Math.min(lock.holders.length, limits.holders)
  const waiters = lock.waiters - Math.min(lock.waiting.length, limits.waiters)
  const parts = [...(holders > 0 ? [count(holders, 'holder')] : []), ...(waiters > 0 ? [count(waiters, 'waiter')] : [])]
  if (parts.length === 0) return null
  return (
    <div class="sub">
      <div class="who quiet">
        <span class="twig" aria-hidden="true" />… and {lock.more ? 'at least ' : ''}
        {parts.join(' and ')} more
      </div>
    </div>
  )
}

const Own = ({ lock, now, level }: LaneProps) => {
  const [first] = lock.holders
  // A lock that does not change keeps what is too long ago.
  const recent = lock.past.filter(({ until }) => until > now - WINDOW)
  const edge = edgeOf([...recent, ...(first === undefined ? [] : [first])], now)
  return (
    <Track now={now} edge={edge}>
      {recent.map((past) => (
        <PastBar key={`${past.id}${past.since}-${past.until}`} past={past} now={now} />
      ))}
      {first !== undefined && <HoldBar key={first.id} hold={first} now={now} look={lookOf(lock, first, level)} />}
    </Track>
  )
}

/** A lock: who holds it, as bars that grow; below, who waits, in order. */
export const Lane = (props: LaneProps) => {
  const { lock, now, level, limits = OVERVIEW, place } = props
  const item = place && { role: 'listitem' as const, 'aria-posinset': place.at + 1, 'aria-setsize': place.of }
  return (
    <div
      class={`lane ${level ?? ''} ${lock.free === undefined ? '' : 'free'}`}
      {...item}
      style={place && { transform: `translateY(${place.top}px)` }}
    >
      <div class="own">
        <Head {...props} />
        <Own {...props} />
      </div>
      {lock.holders.slice(1, limits.holders).map((one) => (
        <Holder key={one.id} {...{ lock, one, now, level }} />
      ))}
      {lock.waiting.slice(0, limits.waiters).map((one, i) => (
        <Waiter key={one.id} one={one} at={i + 1} now={now} />
      ))}
      <Rest lock={lock} limits={limits} />
    </div>
  )
}
