import { useEffect, useState } from 'preact/hooks'
import { ClientsPage } from './clients-page.js'
import { type Known, Live, type Told } from './stream-or-poll.js'
import { LockPage } from './lock-page.js'
import { Overview } from './overview.js'
import { levelsOf, problemsOf } from './problems.js'
import { SchedulesPage } from './schedules-page.js'
import { after, type Theme, themeNow } from './theme.js'
import { setBase, TICK } from './track.js'
import { shown, spanOf, timeOf } from './words.js'

/** `#/`, `#/clients`, `#/schedules` or `#/lock/<id>`. */
const useAddress = (): string => {
  const [address, set] = useState(location.hash)
  useEffect(() => {
    const changed = () => {
      set(location.hash)
      scrollTo({ top: 0 })
    }
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return address
}

/** Draws once a second, and when something was heard. */
const useLive = (): Live | undefined => {
  const [live, set] = useState<Live>()
  const [, again] = useState(0)
  useEffect(() => {
    set(new Live(() => again((n) => n + 1)))
    const timer = setInterval(() => document.hidden || again((n) => n + 1), TICK)
    return () => clearInterval(timer)
  }, [])
  return live
}

const isAway = (around: Told | undefined): boolean => around !== undefined && around.trouble !== null

const STATES = {
  connecting: 'connecting',
  live: 'live',
  polling: 'live, by polling',
  lost: 'not connected',
} as const

const Status = ({ known: { link, around } }: { known: Known }) => {
  const away = link !== 'lost' && isAway(around)
  return (
    <span class={`status ${away ? 'away' : link}`} role="status">
      <i aria-hidden="true" />
      {away ? 'server away' : STATES[link]}
    </span>
  )
}

const ThemeSwitch = () => {
  const [theme, set] = useState<Theme>(themeNow)
  return (
    <button type="button" class="theme" onClick={() => set(after(theme))} aria-label={`Theme: ${theme}. Change it`}>
      <span aria-hidden="true">{theme === 'system' ? '◐' : theme === 'light' ? '☀' : '☾'}</span>
      {theme}
    </button>
  )
}

/** What is no page of a lock. */
const OTHERS = ['#/clients', '#/schedules']

const Top = ({ known, address }: { known: Known; address: string }) => (
  <header>
    <a class="brand" href="#/">
      <span class="logo" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      holdfast
    </a>
    {known.around !== undefined && known.around.where !== '' && <span class="where">{shown(known.around.where)}</span>}
    <nav aria-label="Pages">
      <a href="#/" {...(!OTHERS.includes(address) && { 'aria-current': 'page' })}>
        Locks
      </a>
      <a href="#/clients" {...(address === '#/clients' && { 'aria-current': 'page' })}>
        Clients
      </a>
      {known.around !== undefined && known.around.schedules.length > 0 && (
        <a href="#/schedules" {...(address === '#/schedules' && { 'aria-current': 'page' })}>
          Schedules
        </a>
      )}
    </nav>
    <Status known={known} />
    <ThemeSwitch />
  </header>
)

const Missing = ({ text }: { text: string }) => (
  <div class="trouble" role="alert">
    <b>Not all locks can be read.</b> The newest reading {shown(text)}. What it did not find is shown as it was seen
    last.
  </div>
)

/** Why what is shown may be old. */
const Trouble = ({ known: { around, link, lostAt = Date.now(), refusal }, now }: { known: Known; now: number }) => {
  const old = around === undefined || around.at === 0 ? '' : ` What you see is from ${timeOf(around.at, now)}.`
  if (link === 'lost')
    return (
      <div class="trouble" role="alert">
        {refusal === undefined ? (
          <>
            <b>The dashboard does not answer.</b> Is its process still running?
          </>
        ) : (
          <>
            <b>The dashboard refuses.</b> {shown(refusal)}
          </>
        )}{' '}
        This page tries again by itself
        <span aria-hidden="true"> and has done so for {spanOf(Date.now() - lostAt)}</span>.{old}
      </div>
    )
  if (around === undefined) return null
  if (around.trouble === null) return around.missing === null ? null : <Missing text={around.missing} />
  return (
    <div class="trouble" role="alert">
      <b>The Redis server cannot be read</b>
      <span aria-hidden="true"> for {spanOf(Math.max(0, now - around.trouble.since))}</span>:{' '}
      {shown(around.trouble.text)}. The dashboard tries again each second.{old}
    </div>
  )
}

const Waiting = () => <p class="nothing quiet">Reading the locks…</p>

const Main = ({ known, around, address, now }: { known: Known; around: Told; address: string; now: number }) => {
  const { locks } = known
  if (address === '#/schedules') return <SchedulesPage schedules={around.schedules} now={now} />
  // That nothing is locked would not be true.
  if (locks.size === 0 && around.missing !== null) return null
  const problems = problemsOf(around, locks.values(), now)
  const levels = levelsOf(around, problems)
  if (address === '#/clients') return <ClientsPage locks={locks} now={now} />
  const id = /^#\/lock\/(.+)$/.exec(address)?.[1]
  if (id === undefined) return <Overview {...{ locks, problems, levels, now, rates: around.rates }} />
  const of = (around.cycles.find((cycle) => cycle.some(({ lock }) => lock === id)) ?? []).map(({ lock }) => lock)
  const problem = problems.find(({ lock }) => lock === id || (of.length > 0 && of[0] === lock))
  return <LockPage key={id} {...{ lock: locks.get(id), now, problem, level: levels.get(id), may: around.may }} />
}

const Foot = ({ around }: { around: Told | undefined }) => (
  <footer class="quiet">
    {around !== undefined && around.hidden > 0 && (
      <span>{around.hidden.toLocaleString('en')} more locks are not shown. </span>
    )}
    {around?.server !== undefined && <span>{shown(around.server)}. </span>}
    <span>
      Read every {spanOf(around?.every ?? TICK)} for all tabs together. Keys: <kbd>/</kbd> search, <kbd>↑</kbd>{' '}
      <kbd>↓</kbd> choose a lock, <kbd>Enter</kbd> open it, <kbd>Esc</kbd> all locks.
    </span>
  </footer>
)

export const App = () => {
  const live = useLive()
  const address = useAddress()
  useEffect(() => {
    const back = ({ key }: KeyboardEvent) => {
      if (key === 'Escape' && location.hash.length > 2) location.hash = '#/'
    }
    addEventListener('keydown', back)
    return () => removeEventListener('keydown', back)
  }, [])
  if (live === undefined) return <Waiting />
  const { known } = live
  const now = live.now()
  setBase(now)
  const stale = known.link === 'lost' || isAway(known.around)
  return (
    <>
      <Top known={known} address={address} />
      <main class={stale ? 'stale' : ''}>
        <Trouble known={known} now={now} />
        {known.around === undefined || (known.around.at === 0 && stale) ? (
          stale ? null : (
            <Waiting />
          )
        ) : (
          <Main {...{ known, around: known.around, address, now }} />
        )}
      </main>
      <Foot around={known.around} />
    </>
  )
}
