import { useEffect, useRef, useState } from 'preact/hooks'
import { type Rate, type ShownLock, WINDOW } from '../page-messages.js'
import { ALL, type Choice, Order } from './choose.js'
import { addressOf } from './lane.js'
import { Lanes } from './lanes.js'
import { type Levels, type Problem } from './problems.js'
import { Rates } from './rates.js'
import { count, kindText } from './words.js'

export interface SeenProps {
  readonly locks: ReadonlyMap<string, ShownLock>
  readonly levels: Levels
  readonly problems: readonly Problem[]
  readonly now: number
  readonly rates: readonly (Rate | null)[]
}

/** How many problems are shown before all others are a number. */
const MOST_PROBLEMS = 4

const Problems = ({ problems }: Pick<SeenProps, 'problems'>) => {
  if (problems.length === 0) return null
  return (
    <section class="problems" aria-label="Problems">
      {problems.slice(0, MOST_PROBLEMS).map(({ level, lock, text, advice }) => (
        <a key={`${level}${lock}`} class={`problem ${level}`} href={addressOf(lock)}>
          <b>{text}</b>
          <span>{advice}</span>
        </a>
      ))}
      {problems.length > MOST_PROBLEMS && (
        <p class="quiet">… and {count(problems.length - MOST_PROBLEMS, 'other problem')}, first in the list below</p>
      )}
    </section>
  )
}

const Number = ({ value, text, look = '' }: { value: number; text: string; look?: string }) => (
  <div class={`number ${value === 0 ? 'zero' : look}`}>
    <b>{value.toLocaleString('en')}</b>
    <span>{text}</span>
  </div>
)

const Numbers = ({ locks, problems }: Pick<SeenProps, 'locks' | 'problems'>) => {
  let [held, waiters, blocked] = [0, 0, 0]
  for (const lock of locks.values()) {
    if (lock.holding > 0) held += 1
    if (lock.waiters > 0) blocked += 1
    waiters += lock.waiters
  }
  return (
    <div class="numbers">
      <Number value={held} text={held === 1 ? 'lock held' : 'locks held'} />
      <Number value={waiters} text={waiters === 1 ? 'caller waits' : 'callers wait'} />
      <Number value={blocked} text={blocked === 1 ? 'lock is waited for' : 'locks are waited for'} />
      <Number value={problems.length} text={problems.length === 1 ? 'problem' : 'problems'} look="wrong" />
    </div>
  )
}

interface BarProps {
  readonly choice: Choice
  readonly set: (choice: Choice) => void
  readonly kinds: readonly string[]
}

const Choosing = ({ choice, set, kinds }: BarProps) => (
  <div class="choosing" role="search">
    <input
      type="search"
      id="search"
      aria-label="Search by name, kind or label"
      placeholder="Search by name, kind or label    /"
      value={choice.search}
      onInput={({ currentTarget }) => set({ ...choice, search: currentTarget.value })}
    />
    <select
      aria-label="Kind"
      value={choice.kind}
      onChange={({ currentTarget }) => set({ ...choice, kind: currentTarget.value })}
    >
      <option value="">all kinds</option>
      {kinds.map((kind) => (
        <option key={kind} value={kind}>
          {kindText(kind)}
        </option>
      ))}
    </select>
    <label class="check">
      <input
        type="checkbox"
        checked={choice.blocked}
        onChange={({ currentTarget }) => set({ ...choice, blocked: currentTarget.checked })}
      />
      only with waiters
    </label>
  </div>
)

const AXIS = [60, 45, 30, 15]

const Axis = () => (
  <div class="axis" aria-hidden="true">
    <span class="side" />
    <div class="scale">
      {AXIS.map((seconds) => (
        <i key={seconds} style={{ left: `${100 - (seconds * 100_000) / WINDOW}%` }}>
          {seconds}s ago
        </i>
      ))}
      <i class="now">now</i>
    </div>
  </div>
)

const Nothing = ({ all }: { all: boolean }) =>
  all ? (
    <div class="nothing">
      <svg viewBox="0 0 48 48" width="56" height="56" aria-hidden="true">
        <rect x="10" y="21" width="28" height="20" rx="4" fill="none" stroke="currentColor" stroke-width="2.5" />
        <path
          d="M16 21v-7a8 8 0 0 1 15.5-2.8"
          fill="none"
          stroke="currentColor"
          stroke-width="2.5"
          stroke-linecap="round"
        />
        <circle cx="24" cy="31" r="2.6" fill="currentColor" />
      </svg>
      <h2>Nothing is locked</h2>
      <p>
        A lock appears here when a client of holdfast has held it, or waited for it, for longer than a second. Short
        holds never show up, unless others wait. Clients that connect with <code>presence: false</code>, and clients of
        Redisson that hold a lock alone, are not listed either: <code>holdfast ls --scan</code> finds them.
      </p>
    </div>
  ) : (
    <div class="nothing">
      <h2>No lock matches</h2>
      <p>Nothing here has such a name, kind or label. Press Escape to see all locks again.</p>
    </div>
  )

/** The id that comes `step` after the one that is focused. */
const next = (locks: readonly ShownLock[], step: number): { id: string } | undefined => {
  const focused = document.activeElement?.getAttribute('data-lock')
  const at = locks.findIndex(({ id }) => id === focused)
  const to = at < 0 ? 0 : Math.min(locks.length - 1, Math.max(0, at + step))
  const lock = locks[to]
  return lock && { id: lock.id }
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8 }

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement

/** All locks, and what is wrong. */
export const Overview = ({ locks, levels, problems, now, rates }: SeenProps) => {
  const [choice, set] = useState(ALL)
  const [focus, setFocus] = useState<{ id: string }>()
  const order = useRef(new Order())
  const chosen = order.current.chosen(locks, choice, levels, now)
  const keys = useRef<(event: KeyboardEvent) => void>(() => undefined)
  keys.current = (event) => {
    const step = STEPS[event.key]
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') {
      set(ALL)
      document.querySelector<HTMLElement>('#search')?.blur()
    } else if (isTyping(event)) return
    else if (event.key === '/') document.querySelector<HTMLElement>('#search')?.focus()
    else if (step !== undefined) setFocus(next(chosen, step))
    else return
    event.preventDefault()
  }
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => keys.current(event)
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
  const kinds = [...new Set(Array.from(locks.values(), ({ kind }) => kind))].sort()
  return (
    <>
      <div class="top">
        <Numbers locks={locks} problems={problems} />
        {locks.size > 0 && <Rates rates={rates} />}
      </div>
      <Problems problems={problems} />
      {locks.size > 0 && <Choosing {...{ choice, set, kinds }} />}
      {chosen.length > 0 ? <Axis /> : <Nothing all={locks.size === 0} />}
      <Lanes {...{ locks: chosen, now, levels, focus }} />
    </>
  )
}
