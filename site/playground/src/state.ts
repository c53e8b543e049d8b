import { type ScenarioName, scenarios } from './scenarios.js'

/** All that a link says. */
export interface State {
  readonly scenario: ScenarioName
  readonly processes: number
  /** ms */
  readonly delay: number
  /** Percent. */
  readonly drop: number
  /** ms */
  readonly lease: number
  /** ms */
  readonly pause: number
  /** One for each process; missing: that of the scenario. */
  readonly code: readonly (string | null)[]
}

export const NAMES = ['A', 'B', 'C', 'D', 'E', 'F']

export const START: State = { scenario: 'lock', processes: 4, delay: 20, drop: 0, lease: 3000, pause: 6000, code: [] }

export const BOUNDS = {
  processes: [1, NAMES.length, 1],
  delay: [0, 500, 10],
  drop: [0, 100, 5],
  lease: [1000, 10_000, 500],
  pause: [1000, 20_000, 1000],
} as const

const LONGEST_CODE = 10_000
/** Six texts, in which JSON escapes each character, in base64. */
const LONGEST_HASH = NAMES.length * LONGEST_CODE * 8 + 1000

export type Bounded = keyof typeof BOUNDS

const within = (value: unknown, key: Bounded): number => {
  const [least, most] = BOUNDS[key]
  return typeof value === 'number' && value >= least && value <= most ? Math.round(value) : START[key]
}

const codeOf = (value: unknown): (string | null)[] =>
  Array.isArray(value)
    ? value
        .slice(0, NAMES.length)
        .map((code: unknown) => (typeof code === 'string' && code.length <= LONGEST_CODE ? code : null))
    : []

/** Whatever the hash says, within all bounds. */
const checked = (said: Readonly<Record<string, unknown>>): State => ({
  scenario:
    typeof said['scenario'] === 'string' && Object.hasOwn(scenarios, said['scenario'])
      ? (said['scenario'] as ScenarioName)
      : START.scenario,
  processes: within(said['processes'], 'processes'),
  delay: within(said['delay'], 'delay'),
  drop: within(said['drop'], 'drop'),
  lease: within(said['lease'], 'lease'),
  pause: within(said['pause'], 'pause'),
  code: codeOf(said['code']),
})

/** A hash is written by somebody else: a part that is wrong counts as missing. */
export const fromHash = (hash: string): State => {
  if (hash.length < 2 || hash.length > LONGEST_HASH) return START
  try {
    const bytes = Uint8Array.from(atob(hash.slice(1).replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
    const said: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof said === 'object' && said !== null ? checked(said as Record<string, unknown>) : START
  } catch {
    return START
  }
}

export const toHash = (state: State): string => {
  const bytes = new TextEncoder().encode(JSON.stringify(state))
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return `#${text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
}

export const codeFor = ({ scenario, code }: State, process: number): string => code[process] ?? scenarios[scenario].code

export const hasOwnCode = (state: State): boolean =>
  state.code.some((code) => code !== null && code !== scenarios[state.scenario].code)
