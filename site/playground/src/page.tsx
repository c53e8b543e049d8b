import { render, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import library from 'library'
import { draw, heightOf } from './lanes.js'
import { Log } from './log.js'
import { type ScenarioName, scenarios } from './scenarios.js'
import { type Bounded, BOUNDS, codeFor, fromHash, hasOwnCode, NAMES, type State, toHash } from './state.js'
import { type Lane, World } from './world.js'

const LIBRARY = new Blob([library], { type: 'text/javascript' })

const LABELS: Readonly<Record<Bounded, readonly [label: string, unit: string]>> = {
  processes: ['Processes', ''],
  delay: ['Network delay', ' ms'],
  drop: ['Lost messages', ' %'],
  lease: ['Lease', ' ms'],
  pause: ['Pause', ' ms'],
}

const weatherOf = ({ delay, drop }: State) => ({ delay, drop: drop / 100 })

interface SliderProps {
  readonly id: Bounded
  readonly state: State
  readonly change: (change: Partial<State>) => void
}

const Slider = ({ id, state, change }: SliderProps): JSX.Element => {
  const [label, unit] = LABELS[id]
  const [min, max, step] = BOUNDS[id]
  return (
    <div>
      <span>
        <label for={id}>{label}</label>
        <output for={id}>{`${state[id]}${unit}`}</output>
      </span>
      <input
        type="range"
        id={id}
        {...{ min, max, step }}
        value={state[id]}
        onInput={({ currentTarget }) => change({ [id]: Number(currentTarget.value) })}
      />
    </div>
  )
}

const Lanes = ({ world }: { readonly world: World | undefined }): JSX.Element => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const lanes = world?.lanes ?? []
  useEffect(() => {
    let next = 0
    const frame = (now: number): void => {
      if (canvas.current !== null && world !== undefined) draw(canvas.current, world.lanes, now)
      next = requestAnimationFrame(frame)
    }
    next = requestAnimationFrame(frame)
    return () => cancelAnimationFrame(next)
  }, [world])
  const said = lanes.map(({ name, state }) => `${name} ${state}`).join(', ')
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={`What each process does: ${said}`}
      height={heightOf(lanes.length)}
      style={{ height: `${heightOf(lanes.length)}px` }}
    />
  )
}

interface DeedsProps {
  readonly lane: Lane
  readonly pause: () => void
  readonly kill: () => void
  readonly restart: () => void
}

const Deeds = ({ lane, pause, kill, restart }: DeedsProps): JSX.Element => (
  <div class="deed" role="group" aria-label={`Process ${lane.name}`} data-state={lane.state}>
    <b aria-hidden="true">{lane.name}</b>
    <button disabled={!lane.alive} onClick={pause} aria-label={`Pause ${lane.name}`}>
      Pause
    </button>
    {lane.alive ? (
      <button onClick={kill} aria-label={`Kill ${lane.name}`}>
        Kill
      </button>
    ) : (
      <button onClick={restart} aria-label={`Start ${lane.name} again`}>
        Start
      </button>
    )}
  </div>
)

const Key = (): JSX.Element => (
  <ul class="key">
    {(
      [
        ['holding', 'holds'],
        ['waiting', 'waits'],
        ['paused', 'paused'],
        ['dead', 'killed'],
      ] as const
    ).map(([name, text]) => (
      <li key={name}>
        <i class={name} />
        {text}
      </li>
    ))}
  </ul>
)

interface CodeProps {
  readonly state: State
  readonly edit: (process: number, code: string) => void
}

const Code = ({ state, edit }: CodeProps): JSX.Element => {
  const [chosen, choose] = useState(0)
  const at = Math.min(chosen, state.processes - 1)
  return (
    <section class="card" aria-labelledby="code">
      <h2 id="code">What each process does</h2>
      <p class="quiet">
        You have <code>client</code>, <code>me</code>, <code>sleep(ms)</code>, <code>say(text)</code> and{' '}
        <code>write(token, text)</code>. Changes count from the next Run.
      </p>
      <div class="bar" role="group" aria-label="Process">
        {NAMES.slice(0, state.processes).map((name, i) => (
          <button key={name} aria-pressed={i === at} onClick={() => choose(i)}>
            {name}
          </button>
        ))}
      </div>
      <textarea
        aria-label={`Code of process ${NAMES[at]}`}
        spellcheck={false}
        maxLength={10_000}
        value={codeFor(state, at)}
        onInput={({ currentTarget }) => edit(at, currentTarget.value)}
      />
    </section>
  )
}

const FOREIGN =
  'This link brings code that somebody wrote. Nothing has run yet: read the code of each process before you press Run. It runs in workers of this page, which have no network.'

interface Running {
  readonly state: State
  readonly setState: (state: State) => void
  readonly world: World | undefined
  /** The code is from a link, and so somebody else's until the reader has pressed Run. */
  readonly foreign: boolean
  readonly run: () => void
  readonly stop: () => void
  readonly refresh: () => void
}

const useRun = (): Running => {
  const [state, keep] = useState(() => fromHash(location.hash))
  const [world, setWorld] = useState<World>()
  const [foreign, setForeign] = useState(() => hasOwnCode(state))
  const [, count] = useState(0)
  const refresh = (): void => count((n) => n + 1)
  const stop = (): void => {
    world?.end()
    setWorld(undefined)
  }
  const setState = (next: State): void => {
    keep(next)
    if (!hasOwnCode(next)) setForeign(false)
    history.replaceState(null, '', toHash(next))
    world?.weather(weatherOf(next))
  }
  const run = (): void => {
    world?.end()
    setForeign(false)
    const begun = new World(LIBRARY, weatherOf(state), refresh)
    for (const [i, name] of NAMES.slice(0, state.processes).entries()) begun.start(name, codeFor(state, i), state.lease)
    setWorld(begun)
  }
  useEffect(() => {
    const onHash = (): void => {
      stop()
      const next = fromHash(location.hash)
      keep(next)
      setForeign(hasOwnCode(next))
    }
    addEventListener('hashchange', onHash)
    return () => removeEventListener('hashchange', onHash)
  })
  return { state, setState, world, foreign, run, stop, refresh }
}

const Controls = ({ state, setState, world, run, stop }: Running): JSX.Element => {
  const change = (changed: Partial<State>): void => setState({ ...state, ...changed })
  return (
    <>
      <div class="bar" role="group" aria-label="Scenario">
        {Object.entries(scenarios).map(([name, { title }]) => (
          <button
            key={name}
            aria-pressed={state.scenario === name}
            onClick={() => {
              stop()
              change({ scenario: name as ScenarioName, code: [] })
            }}
          >
            {title}
          </button>
        ))}
      </div>
      <p>{scenarios[state.scenario].about}</p>
      <section class="card sliders" aria-label="Settings">
        {(Object.keys(BOUNDS) as Bounded[]).map((id) => (
          <Slider key={id} {...{ id, state, change }} />
        ))}
      </section>
      <div class="bar">
        <button class="main" onClick={run}>
          {world === undefined ? 'Run' : 'Run again'}
        </button>
        <button disabled={world === undefined} onClick={stop}>
          Stop
        </button>
      </div>
    </>
  )
}

const Stage = ({ state, world, refresh }: Running): JSX.Element => {
  const deed = (step: (world: World) => void) => (): void => {
    if (world !== undefined) step(world)
    refresh()
  }
  return (
    <section class="card" aria-labelledby="lanes">
      <h2 id="lanes">Processes</h2>
      {world === undefined && <p class="quiet">Press Run. Each process is a worker; Redis is another one.</p>}
      <div class="stage">
        <Lanes world={world} />
        <div class="deeds">
          {world?.lanes.map((lane, i) => (
            <Deeds
              key={lane.name}
              lane={lane}
              pause={deed((it) => it.pause(lane, state.pause))}
              kill={deed((it) => it.kill(lane))}
              restart={deed((it) => it.start(lane.name, codeFor(state, i), state.lease))}
            />
          ))}
        </div>
      </div>
      <Key />
    </section>
  )
}

const Page = (): JSX.Element => {
  const running = useRun()
  const { state, setState, world } = running
  const edit = (process: number, code: string): void => {
    const all = NAMES.map((_, i) => (i === process ? code : (state.code[i] ?? null)))
    setState({ ...state, code: all })
  }
  return (
    <main>
      <h1>holdfast playground</h1>
      <p class="quiet">
        The library and its embedded Redis, in your browser. Pause or kill a process, lose messages, and watch who gets
        the lock. The address of this page holds all settings and code: a link is a bug report.
      </p>
      {running.foreign && (
        <p class="card warning" role="note">
          {FOREIGN}
        </p>
      )}
      <Controls {...running} />
      <Stage {...running} />
      <div class="columns">
        <Code state={state} edit={edit} />
        <section class="card" aria-labelledby="log">
          <h2 id="log">What happened</h2>
          <Log world={world} />
        </section>
      </div>
    </main>
  )
}

render(<Page />, document.getElementById('page') as HTMLElement)
