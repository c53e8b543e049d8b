import { plainText } from '../../plain-text.js'
import { durationOf } from '../run/duration.js'
import { exitCodeOf, type Job, jobOf, SHARED, splitAtCommand } from '../run/run-options.js'
import { nameIn, parse, UsageError } from '../usage-error.js'
import { type Slotted, slottedOf } from './slot-name.js'

/** The command line of `holdfast once`, checked. */
export interface OnceOptions extends Job {
  readonly name: string
  readonly slotAt: Slotted['slotAt']
  readonly retry: number
  /** ms */
  readonly retention: number
  /** The exit code if the command did not run here. */
  readonly skipped: number
  readonly quiet: boolean
}

export const OPTIONS = {
  slot: {
    type: 'string',
    value: 'SLOT',
    words: ['minute', 'hour', 'day'],
    help: 'what runs once: minute, hour or day, by the server’s clock, or any text, such as the number of an order',
  },
  every: {
    type: 'string',
    value: 'DURATION',
    help: 'instead of --slot: a period of whole minutes, such as 5m or 12h, by the server’s clock',
  },
  timezone: {
    type: 'string',
    value: 'ZONE',
    help: 'for --slot day: the time zone of the crontab, such as Europe/Berlin',
  },
  retry: {
    type: 'string',
    value: 'N',
    help: 'how often another machine may run it again if the one that runs it dies; the others wait for that (default 0)',
  },
  retention: {
    type: 'string',
    value: 'DURATION',
    help: 'how long the server remembers that a slot has run (default 7d)',
  },
  'skipped-exit-code': {
    type: 'string',
    short: 'E',
    value: 'CODE',
    help: 'the exit code if the command does not run here (default 0)',
  },
  quiet: { type: 'boolean', short: 'q', default: false, help: 'do not say why the command does not run here' },
  ...SHARED,
  lease: { ...SHARED.lease, help: 'how long it takes until a dead machine counts as dead (default 30s)' },
  label: { ...SHARED.label, help: 'shown by those that skip the slot while it runs (default: host and process)' },
} as const

const RETENTION = 7 * 86_400_000
const MOST_RETRIES = 1000

type Environment = Readonly<Record<string, string | undefined>>

/** Throws a UsageError that says what is wrong. */
export const readOptions = (args: readonly string[], env: Environment): OnceOptions => {
  const [front, command] = splitAtCommand(args)
  const { values, positionals } = parse({ args: [...front], allowPositionals: true, options: OPTIONS })
  const { slotAt, period } = slottedOf(values)
  return {
    name: nameIn(positionals, 'slots'),
    slotAt,
    retry: retryOf(values.retry),
    retention: retentionOf(values.retention, period),
    skipped: exitCodeOf(values['skipped-exit-code'], 0),
    quiet: values.quiet,
    ...jobOf(values, command, env),
  }
}

const retryOf = (text = '0'): number => {
  const retry = /^\d{1,4}$/.test(text) ? Number(text) : Infinity
  if (retry <= MOST_RETRIES) return retry
  throw new UsageError(`--retry must be a number from 0 to ${MOST_RETRIES}, not "${plainText(text)}"`)
}

/** A slot that is forgotten before it is over could run again. */
const retentionOf = (text: string | undefined, period: number): number => {
  const retention = text === undefined ? RETENTION : durationOf(text, '--retention')
  if (retention > period) return retention
  throw new UsageError('--retention must be longer than the slot')
}
