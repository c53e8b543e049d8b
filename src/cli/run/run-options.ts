import type { ClientOptions } from '../../config/client-options.js'
import { plainText } from '../../plain-text.js'
import { CONNECTION, connectionOf } from '../connection.js'
import { parse, UsageError } from '../usage-error.js'
import { durationOf } from './duration.js'
import { EXIT } from '../exit-code.js'
import { type Kind, kindOf } from './kind-option.js'

export type OnLost = 'term' | 'kill' | 'ignore'

/** How to run a command while something is held. */
export interface Job {
  readonly client: ClientOptions
  /** ms; undefined: the smaller of 5 s and what is left of the lease. */
  readonly grace: number | undefined
  readonly onLost: OnLost
  readonly command: readonly [string, ...string[]]
}

/** The command line of `holdfast run`, checked. */
export interface RunOptions extends Job {
  /** One, except for a multi-lock. */
  readonly names: readonly string[]
  readonly kind: Kind
  /** ms; undefined: without limit. */
  readonly wait: number | undefined
  /** The exit code if the lock could not be acquired in time. */
  readonly conflict: number
  /** The command gets the hold itself, as a ticket. */
  readonly ticket: boolean
}

/** The options that `holdfast once` has, too. */
export const SHARED = {
  lease: {
    type: 'string',
    value: 'DURATION',
    help: 'how long the lock stays taken if the machine dies (default 30s)',
  },
  'on-lost': {
    type: 'string',
    default: 'term',
    value: 'ACTION',
    words: ['term', 'kill', 'ignore'],
    help: 'if the lock is lost: term (default; SIGTERM, and SIGKILL after the grace), kill (SIGKILL when the lease ends), or ignore (let the command run)',
  },
  grace: {
    type: 'string',
    value: 'DURATION',
    help: 'from SIGTERM to SIGKILL (default: 5s, or what is left of the lease if that is less)',
  },
  label: { type: 'string', value: 'TEXT', help: 'shown wherever people see who holds the lock' },
  ...CONNECTION,
} as const

export const OPTIONS = {
  kind: {
    type: 'string',
    default: 'lock',
    value: 'KIND',
    words: ['lock', 'fair', 'read', 'write', 'fenced', 'semaphore:', 'keyed:', 'multi'],
    help: 'lock (default), fair, read, write, fenced, semaphore:N (N at a time), keyed:KEY,KEY… (keys of a group), or multi (all NAMEs)',
  },
  wait: {
    type: 'string',
    short: 'w',
    value: 'DURATION',
    help: 'wait this long for the lock, for example 500ms, 10s or 2m (default: for ever)',
  },
  'no-wait': { type: 'boolean', short: 'n', default: false, help: 'do not wait' },
  'conflict-exit-code': {
    type: 'string',
    short: 'E',
    value: 'CODE',
    help: 'the exit code if the lock could not be acquired (default 75)',
  },
  ...SHARED,
  ticket: { type: 'boolean', default: false, help: 'give the hold to the command, which adopts HOLDFAST_TICKET' },
} as const

/** Shorter ones cost the server more than they are worth: each is renewed three times. */
const SHORTEST_LEASE = 1000
const NO_TICKET: readonly Kind['kind'][] = ['semaphore', 'multi']

type Environment = Readonly<Record<string, string | undefined>>

/** What is in front of `--`, and the command behind it. */
export const splitAtCommand = (
  args: readonly string[],
): readonly [front: readonly string[], command: readonly string[]] => {
  const end = args.indexOf('--')
  return end === -1 ? [args, []] : [args.slice(0, end), args.slice(end + 1)]
}

type Shared = Partial<Readonly<Record<'lease' | 'grace' | 'label' | 'url' | 'config', string | undefined>>> & {
  readonly 'on-lost': string
}

/** The job that these values of `SHARED` describe. */
export const jobOf = (values: Shared, command: readonly string[], env: Environment): Job => ({
  client: clientOf(values, env),
  grace: values.grace === undefined ? undefined : durationOf(values.grace, '--grace'),
  onLost: onLostOf(values['on-lost']),
  command: commandOf(command),
})

/** Throws a UsageError that says what is wrong. */
export const readOptions = (args: readonly string[], env: Environment): RunOptions => {
  const [front, command] = splitAtCommand(args)
  const { values, positionals: names } = parse({ args: [...front], allowPositionals: true, options: OPTIONS })
  const kind = kindOf(values.kind)
  if (values.ticket && NO_TICKET.includes(kind.kind)) {
    throw new UsageError(`--ticket does not work with --kind ${kind.kind}, which has no tickets`)
  }
  checkNames(names, kind)
  return {
    names,
    kind,
    wait: waitOf(values),
    conflict: exitCodeOf(values['conflict-exit-code'], EXIT.conflict),
    ticket: values.ticket,
    ...jobOf(values, command, env),
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

interface Waits {
  readonly wait?: string | undefined
  readonly 'no-wait': boolean
}

const commandOf = ([program = '', ...args]: readonly string[]): RunOptions['command'] => {
  if (program === '') throw new UsageError('the command is missing: write it behind --')
  // The shell that starts it would take this for an option.
  if (program.startsWith('-')) throw new UsageError(`the command must not begin with "-": "${plainText(program)}"`)
  return [program, ...args]
}

const waitOf = (values: Waits): number | undefined => {
  if (values.wait === undefined) return values['no-wait'] ? 0 : undefined
  if (values['no-wait']) throw new UsageError('-n and --wait exclude each other')
  return durationOf(values.wait, '--wait')
}

const clientOf = (values: Shared, env: Environment): ClientOptions => {
  const { label, lease } = values
  if (label === '') throw new UsageError('--label must not be empty')
  const watchdog = lease === undefined ? undefined : durationOf(lease, '--lease')
  if (watchdog !== undefined && watchdog < SHORTEST_LEASE) throw new UsageError('--lease must be at least 1s')
  return {
    ...connectionOf(values, env),
    ...(label !== undefined && { label }),
    ...(watchdog !== undefined && { watchdog }),
  }
}

const onLostOf = (text: string): OnLost => {
  if (text === 'term' || text === 'kill' || text === 'ignore') return text
  throw new UsageError(`--on-lost must be term, kill or ignore, not "${plainText(text)}"`)
}

/** The exit code that `-E` sets. */
export const exitCodeOf = (text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise
  const code = /^\d{1,3}$/.test(text) ? Number(text) : 256
  if (code <= 255) return code
  throw new UsageError(`-E must be an exit code from 0 to 255, not "${plainText(text)}"`)
}
