import type { Figures } from '../measure.js'
import type { Row } from '../rows.js'
import { coresOf, type Costs, ENOUGH, limitsOf } from './cost.js'
import { capacityOf, type Demand, demandOf, type Load, requestsOf } from './demand.js'
import type { Wanted } from './plan-options.js'

/** What was measured, by row. */
export type Measured = Readonly<Record<Row['id'], Figures>>

/** Undefined: the server does not tell its CPU time. */
const costsOf = ({ alone, contended }: Measured): Costs | undefined =>
  alone.serverCpu === undefined || contended.serverCpu === undefined
    ? undefined
    : { alone: alone.serverCpu, contended: contended.serverCpu }

const loadOf = (wanted: Wanted, { script }: Measured): Load => ({ ...wanted, trip: script.median })

const count = (value: number): string => Math.round(value).toLocaleString('en')
const few = (value: number): string => (value < 10 ? value.toFixed(1) : count(value))
const percent = (share: number): string => `${few(100 * share)} %`
const line = (title: string, value: string): string => `  ${title.padEnd(36)}${value}`

const shownWait = ({ busy, contended, wait }: Demand): string => {
  if (busy >= 1) return `${few(wait)} ms: the locks cannot do more`
  return contended === 0 ? `${few(wait)} ms` : `${few(wait)} ms, the mean`
}

const demandLines = (load: Load, demand: Demand, costs: Costs | undefined): string[] => [
  `${count(load.clients)} clients, ${count(load.locks)} locks, ${count(load.rate)} per second, held for ${count(load.hold)} ms:`,
  line('acquisitions per second', `${few(demand.visits)} of ${count(capacityOf(load))} at most`),
  line('each lock is busy', percent(demand.busy)),
  line('wait for a lock', shownWait(demand)),
  line('calls that wait; holds', `${few(demand.waiting)}; ${few(demand.holds)}`),
  line('requests per second', few(requestsOf(demand))),
  line('wake-up messages per second', few(demand.messages)),
  line('the server’s main thread', costs === undefined ? 'not known' : percent(coresOf(demand, costs))),
]

const limitLines = (costs: Costs): string[] => {
  const { alone, contended, waiting, idle } = limitsOf(costs)
  return [
    `This server carries, if each takes ${percent(ENOUGH)} of its main thread alone:`,
    line('acquisitions without waiting', `${count(alone)} per second`),
    line('acquisitions that wait', `${count(contended)} per second`),
    line('waiting processes', count(waiting)),
    line('clients that do nothing', count(idle)),
  ]
}

export const planText = (wanted: Wanted, measured: Measured): string => {
  const [load, costs] = [loadOf(wanted, measured), costsOf(measured)]
  const limits = costs === undefined ? [] : ['', ...limitLines(costs)]
  return [...demandLines(load, demandOf(load), costs), ...limits].join('\n')
}

const rounded = (_key: string, value: unknown): unknown =>
  typeof value === 'number' ? Math.round(value * 1000) / 1000 : value

/** For programs, on one line. `null`: not known. */
export const planJson = (wanted: Wanted, measured: Measured): string => {
  const [load, costs] = [loadOf(wanted, measured), costsOf(measured)]
  const demand = demandOf(load)
  const cores = costs === undefined ? null : coresOf(demand, costs)
  const limits = costs === undefined ? null : limitsOf(costs)
  return JSON.stringify({ row: 'plan', load, ...demand, most: capacityOf(load), cores, limits }, rounded)
}
