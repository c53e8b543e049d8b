import { plainText } from '../../../plain-text.js'
import { durationOf } from '../../run/duration.js'
import { UsageError } from '../../usage-error.js'
import type { Load } from './demand.js'

/** What `holdfast bench --plan` computes, as the command line says it. */
export const PLAN_OPTIONS = {
  plan: {
    type: 'boolean',
    default: false,
    help: 'also computes what a load would take of this server: the four options below describe it',
  },
  clients: { type: 'string', value: 'N', help: 'how many processes use the locks (default 100)' },
  locks: { type: 'string', value: 'N', help: 'how many locks they use, all equally (default 1000)' },
  rate: { type: 'string', value: 'N', help: 'how many acquisitions per second all want together (default 1000)' },
  hold: { type: 'string', value: 'DURATION', help: 'how long each hold lasts (default 20ms)' },
} as const

export interface PlanValues {
  readonly plan: boolean
  readonly clients?: string | undefined
  readonly locks?: string | undefined
  readonly rate?: string | undefined
  readonly hold?: string | undefined
}

/** What the user says about the load. The rest is measured. */
export type Wanted = Omit<Load, 'trip'>

const LEASE = 30_000
const MOST = 1e9

const countOf = (text: string, option: string): number => {
  const count = /^\d+$/.test(text) ? Number(text) : NaN
  if (count >= 1 && count <= MOST) return count
  throw new UsageError(`${option} must be a whole number from 1 to ${MOST}, not "${plainText(text)}"`)
}

/** Undefined: nothing is to be computed. */
export const wantedOf = (values: PlanValues): Wanted | undefined => {
  const { plan, clients, locks, rate, hold } = values
  if (!plan) {
    const given = (['clients', 'locks', 'rate', 'hold'] as const).find((name) => values[name] !== undefined)
    if (given !== undefined) throw new UsageError(`--${given} needs --plan`)
    return undefined
  }
  return {
    clients: countOf(clients ?? '100', '--clients'),
    locks: countOf(locks ?? '1000', '--locks'),
    rate: countOf(rate ?? '1000', '--rate'),
    hold: durationOf(hold ?? '20ms', '--hold'),
    lease: LEASE,
  }
}
