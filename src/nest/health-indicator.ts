import type { Client } from '../api/client.js'
import type { Health } from '../api/monitoring.js'
import { checkOptions } from '../check-arguments.js'
import { textOf } from '../thrown.js'

/** What @nestjs/terminus expects of an indicator. */
export type HoldfastIndicatorResult = Record<string, { status: 'up' | 'down' } & Record<string, unknown>>

const detailsOf = ({ state, latency, waiting, held, overdue, leading }: Health): Record<string, unknown> => ({
  ...{ state, waiting, held, overdue, leading },
  ...(latency === undefined ? {} : { latency }),
})

const looked = async (client: Pick<Client, 'health'>): Promise<{ status: 'up' | 'down' } & Record<string, unknown>> => {
  try {
    const health = await client.health()
    return { status: health.state === 'up' ? 'up' : 'down', ...detailsOf(health) }
  } catch (error) {
    return { status: 'down', message: textOf(error) }
  }
}

/** Options of `holdfastIndicator`. */
export interface HoldfastIndicatorOptions {
  /** The name in the answer. Default `holdfast`. */
  readonly key?: string | undefined
  /** Set it with terminus 10 and older: they learn only from an error that something is down, and newer ones only from a result. Default `false`. */
  readonly throws?: boolean | undefined
}

const downError = (causes: HoldfastIndicatorResult): Error =>
  Object.assign(new Error('holdfast is down'), { isHealthCheckError: true, causes })

/** An indicator for @nestjs/terminus: `health.check([holdfastIndicator(client)])`. It is down while the client does not reach its server. */
export const holdfastIndicator = (
  client: Pick<Client, 'health'>,
  options: HoldfastIndicatorOptions = {},
): (() => Promise<HoldfastIndicatorResult>) => {
  const { key = 'holdfast', throws = false } = checkOptions(options, ['key', 'throws'])
  return async () => {
    const found = await looked(client)
    if (throws && found.status === 'down') throw downError({ [key]: found })
    return { [key]: found }
  }
}
