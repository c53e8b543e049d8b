import { useState } from 'preact/hooks'
import { MOST_PAST, type Past, type Person, type ShownLock, WINDOW } from '../page-messages.js'
import { Acts } from './acts.js'
import { Lane } from './lane.js'
import type { Problem } from './problems.js'
import { age, count, isShared, kindText, permitsText, ROLES, shown, spanOf, whoIs } from './words.js'

const WHOLE = { holders: 20, waiters: 50 }

interface LockPageProps {
  readonly lock: ShownLock | undefined
  readonly now: number
  readonly problem: Problem | undefined
  readonly level: Problem['level'] | undefined
  readonly may: 'read' | 'act'
}

const Fact = ({ name, children }: { name: string; children: unknown }) => (
  <div class="fact">
    <dt>{name}</dt>
    <dd>{children as never}</dd>
  </div>
)

const leaseText = ({ until, renewed }: ShownLock, now: number): string => {
  if (until === null) return 'has no end'
  if (until === undefined) return 'none'
  return `${spanOf(Math.max(0, until - now))} left${renewed === true ? ', renewed by its client' : ''}`
}

const SIGNS = {
  gone: 'silent: its process has probably died',
  redisson: 'a client of Redisson: nothing shows if it is alive',
  unknown: 'its label cannot be read: nothing shows if it is alive',
} as const

const details = (one: Person, now: number): readonly string[] => [
  `for ${age(one, now)}`,
  ...(one.mode === undefined ? [] : [`${one.mode}s`]),
  ...(one.count === undefined ? [] : [`acquired ${one.count} times`]),
  ...(one.keys === undefined ? [] : [`keys ${one.keys.map(shown).join(', ')}`]),
  ...(one.wants === undefined || one.wants.length === 0 ? [] : [`waits for ${one.wants.map(shown).join(', ')}`]),
  ...(one.sign === undefined ? [] : [SIGNS[one.sign]]),
]

const More = ({ all, listed, lock }: { all: number; listed: readonly Person[]; lock: ShownLock }) =>
  all > listed.length ? (
    <p class="quiet">
      … and {lock.more ? 'at least ' : ''}
      {(all - listed.length).toLocaleString('en')} more
    </p>
  ) : null

interface HoldersProps extends Pick<LockPageProps, 'now' | 'may'> {
  readonly lock: ShownLock
  readonly say: (text: string) => void
}

const Holders = ({ lock, now, may, say }: HoldersProps) => (
  <section>
    <h2>{lock.holding === 0 ? 'Nobody holds it' : count(lock.holding, 'holder')}</h2>
    <ul class="people">
      {lock.holders.map((one) => (
        <li key={one.id}>
          <b>{whoIs(one)}</b>{' '}
          <span class="quiet">
            client {shown(one.short)}, {details(one, now).join(', ')}
          </span>
          {may === 'act' && <Acts key={one.id} {...{ lock, holder: one, say }} />}
        </li>
      ))}
    </ul>
    <More all={lock.holding} listed={lock.holders} lock={lock} />
  </section>
)

const Line = ({ lock, now }: { lock: ShownLock; now: number }) => (
  <section>
    <h2>{lock.waiters === 0 ? 'Nobody waits' : `${count(lock.waiters, 'waiter')}, in order`}</h2>
    <ol class="people">
      {lock.waiting.map((one) => (
        <li key={one.id}>
          <b>{whoIs(one)}</b>{' '}
          <span class="quiet">
            client {shown(one.short)}, {details(one, now).join(', ')}
          </span>
        </li>
      ))}
    </ol>
    <More all={lock.waiters} listed={lock.waiting} lock={lock} />
  </section>
)

const Unlisted = () => (
  <div class="nothing">
    <h2>This lock is not listed</h2>
    <p>
      Within the last minute, the dashboard has seen no call that held it, or waited for it, for longer than a second.
    </p>
    <p>
      <a href="#/">All locks</a>
    </p>
  </div>
)

const oldest = (people: readonly Person[]): Person =>
  people.reduce((one, other) => (other.since < one.since ? other : one))

const pastText = ({ length }: readonly Past[]): string => (length < MOST_PAST ? `${length}` : `${MOST_PAST} or more`)

const median = (past: readonly Past[]): number => {
  const sorted = past.map(({ since, until }) => until - since).sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
}

const Ended = ({ lock, now }: { lock: ShownLock; now: number }) => {
  const past = lock.past.filter(({ until }) => until > now - WINDOW)
  if (past.length === 0) return null
  return (
    <>
      <Fact name="Holds that ended in the last minute">{pastText(past)}</Fact>
      <Fact name="Half of them lasted at most">{spanOf(median(past))}</Fact>
    </>
  )
}

const Facts = ({ lock, now }: { lock: ShownLock; now: number }) => (
  <dl class="facts">
    <Fact name="Kind">
      {kindText(lock.kind)}
      {lock.role === undefined ? '' : `, ${ROLES[lock.role]}`}
    </Fact>
    {isShared(lock) ? (
      <Fact name="Permits">{permitsText(lock)}</Fact>
    ) : (
      <Fact name="Lease">{leaseText(lock, now)}</Fact>
    )}
    {lock.token !== undefined && <Fact name="Newest token">{lock.token}</Fact>}
    <Fact name="Waiters">{lock.waiters}</Fact>
    {lock.waiting[0] !== undefined && <Fact name="Longest wait">{age(oldest(lock.waiting), now)}</Fact>}
    <Ended lock={lock} now={now} />
  </dl>
)

/** One lock: everything that is known of it. */
export const LockPage = ({ lock, now, problem, level, may }: LockPageProps) => {
  // It stays when the holder's row, or the lock, has disappeared.
  const [said, say] = useState('')
  const outcome = (
    <p class="said" role="status">
      {said}
    </p>
  )
  if (lock === undefined)
    return (
      <>
        {outcome}
        <Unlisted />
      </>
    )
  return (
    <article class="one">
      <p>
        <a href="#/">← All locks</a>
      </p>
      <h1>{shown(lock.name)}</h1>
      {problem !== undefined && (
        <div class={`problem ${problem.level}`}>
          <b>{problem.text}</b>
          <span>{problem.advice}</span>
        </div>
      )}
      <Facts {...{ lock, now }} />
      {outcome}
      <Lane {...{ lock, now, level }} limits={WHOLE} />
      <div class="columns">
        {!isShared(lock) && <Holders {...{ lock, now, may, say }} />}
        <Line {...{ lock, now }} />
      </div>
    </article>
  )
}
