import type { ClientOptions } from '../../config/client-options.js'
import { plainText } from '../../plain-text.js'
import { parse, UsageError } from '../usage.js'
import { durationOf } from './duration.js'
import { EXIT } from './exit-code.js'
import { type Kind, kindOf } from './kind.js'

export type OnLost = 'term' | 'kill' | 'ignore'

/** The command line of `holdfast run`, checked. */
export interface RunOptions {
  /** One, except for a multi-lock. */
  readonly names: readonly string[]
  readonly kind: Kind
  /** ms; undefined: without limit. */
  readonly wait: number | undefined
  readonly client: ClientOptions
  /** ms; undefined: the smaller of 5 s and what is left of the lease. */
  readonly grace: number | undefined
  readonly onLost: OnLost
  /** The exit code if the lock could not be acquired in time. */
  readonly conflict: number
  /** The command gets the hold itself, as a ticket. */
  readonly ticket: boolean
  readonly command: readonly [string, ...string[]]
}

const OPTIONS = {
  kind: { type: 'string', default: 'lock' },
  wait: { type: 'string', short: 'w' },
  'no-wait': { type: 'boolean', short: 'n', default: false },
  lease: { type: 'string' },
  label: { type: 'string' },
  url: { type: 'string' },
  config: { type: 'string' },
  grace: { type: 'string' },
  'on-lost': { type: 'string', default: 'term' },
  'conflict-exit-code': { type: 'string', short: 'E' },
  ticket: { type: 'boolean', default: false },
} as const

/** Shorter ones cost the server more than they are worth: each is renewed three times. */
const SHORTEST_LEASE = 1000
const NO_TICKET: readonly Kind['kind'][] = ['semaphore', 'multi']

type Values = ReturnType<typeof valuesOf>['values']

const valuesOf = (args: readonly string[]) => parse({ args: [...args], allowPositionals: true, options: OPTIONS })

/** Whether the user asks for help: in front of the `--`, because everything behind it is the command's. */
export const asksForHelp = (args: readonly string[]): boolean => {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? args.length : end).some((arg) => arg === '--help' || arg === '-h')
}

type Environment = Readonly<Record<string, string | undefined>>

/** Throws a UsageError that says what is wrong. */
export const readOptions = (args: readonly string[], env: Environment): RunOptions => {
  const end = args.indexOf('--')
  const { values, positionals: names } = valuesOf(end === -1 ? args : args.slice(0, end))
  const kind = kindOf(values.kind)
  if (values.ticket && NO_TICKET.includes(kind.kind)) {
    throw new UsageError(`--ticket does not work with --kind ${kind.kind}, which has no tickets`)
  }
  checkNames(names, kind)
  return {
    names,
    kind,
    wait: waitOf(values),
    client: clientOf(values, env),
    grace: values.grace === undefined ? undefined : durationOf(values.grace, '--grace'),
    onLost: onLostOf(values['on-lost']),
    conflict: conflictOf(values['conflict-exit-code']),
    ticket: values.ticket,
    command: commandOf(end === -1 ? [] : args.slice(end + 1)),
  }
}

const checkNames = (names: readonly string[], { kind }: Kind): void => {
  if (names.length === 0 || names.includes('')) throw new UsageError('the name of the lock is missing')
  if (names.length === 1 || kind === 'multi') return
  const more = names.slice(1).map((name) => `"${plainText(name)}"`)
  throw new UsageError(
    `only --kind multi takes more than one name; if ${more.join(', ')} belongs to the command, write -- before the command`,
  )
}

const commandOf = ([program = '', ...args]: readonly string[]): RunOptions['command'] => {
  if (program === '') throw new UsageError('the command is missing: write it behind --')
  // The shell that starts it would take this for an option.
  if (program.startsWith('-')) throw new UsageError(`the command must not begin with "-": "${plainText(program)}"`)
  return [program, ...args]
}

const waitOf = (values: Values): number | undefined => {
  if (values.wait === undefined) return values['no-wait'] ? 0 : undefined
  if (values['no-wait']) throw new UsageError('-n and --wait exclude each other')
  return durationOf(values.wait, '--wait')
}

/** No other process can reach the embedded engine, so a lock there would exclude nobody. */
const mustBeServer = (url: string | undefined): void => {
  if (url !== undefined && /^memory:/i.test(url)) {
    throw new UsageError('the URL must name a server: no other process can see a lock on memory:')
  }
}

const clientOf = ({ url, config, label, lease }: Values, env: Environment): ClientOptions => {
  if (url !== undefined && config !== undefined) throw new UsageError('--url and --config exclude each other')
  // An empty variable counts as not set.
  const set = [env['HOLDFAST_URL'], env['REDIS_URL']].find((value) => value !== undefined && value !== '')
  if (config === undefined) mustBeServer(url ?? set)
  if (label === '') throw new UsageError('--label must not be empty')
  const watchdog = lease === undefined ? undefined : durationOf(lease, '--lease')
  if (watchdog !== undefined && watchdog < SHORTEST_LEASE) throw new UsageError('--lease must be at least 1s')
  return {
    ...(url !== undefined && { url }),
    ...(config !== undefined && { file: config }),
    ...(label !== undefined && { label }),
    ...(watchdog !== undefined && { watchdog }),
  }
}

const onLostOf = (text: string): OnLost => {
  if (text === 'term' || text === 'kill' || text === 'ignore') return text
  throw new UsageError(`--on-lost must be term, kill or ignore, not "${plainText(text)}"`)
}

const conflictOf = (text: string | undefined): number => {
  if (text === undefined) return EXIT.conflict
  const code = /^\d{1,3}$/.test(text) ? Number(text) : 256
  if (code <= 255) return code
  throw new UsageError(`-E must be an exit code from 0 to 255, not "${plainText(text)}"`)
}
