import { HELP } from './metric-definitions.js'

/** How OpenTelemetry describes a metric. */
export interface Metric {
  readonly name: string
  readonly unit: string
  readonly description: string
}

const otel = (name: string, unit: string, description: string): Metric => ({
  name: `holdfast.${name}`,
  unit,
  description,
})

/** The metrics as OpenTelemetry names them. */
export const OTEL: Readonly<Record<keyof typeof HELP, Metric>> = {
  wait: otel('lock.wait.duration', 's', HELP.wait),
  hold: otel('lock.hold.duration', 's', HELP.hold),
  waiting: otel('lock.waiting', '{request}', HELP.waiting),
  held: otel('lock.held', '{hold}', HELP.held),
  oldest: otel('lock.held.oldest', 's', HELP.oldest),
  lost: otel('lock.lost', '{hold}', HELP.lost),
  renewals: otel('lock.renewals', '{renewal}', HELP.renewals),
  decisions: otel('limiter.decisions', '{decision}', HELP.decisions),
  reconnects: otel('client.reconnects', '{reconnect}', HELP.reconnects),
  deadlocks: otel('deadlocks', '{deadlock}', HELP.deadlocks),
}
