import { EngineError } from '../../errors.js'
import { text } from '../../lua/reply-shape.js'
import type { Health } from '../../api/monitoring.js'
import type { Runtime } from './runtime.js'
import { within } from '../../base/time-limit.js'

/** ms. If a PING takes longer, the server counts as away. */
const PATIENCE = 1000

/** `undefined`: no answer that shows that the server can be used. */
const latencyOf = async ({ link, options: { clock } }: Runtime): Promise<number | undefined> => {
  const sent = clock.monotonic()
  const ping = link.command(['PING'], text).then(
    () => true,
    // NOPERM is an answer, too: this user may not even PING.
    (error: unknown) => error instanceof EngineError && error.code === 'NOPERM',
  )
  return (await within(clock, PATIENCE, ping)) === true ? clock.monotonic() - sent : undefined
}

/** A term that this client leads. */
interface Led {
  readonly working: boolean
  /** The term is over, but its work still runs. */
  readonly overdue: boolean
}

export const healthOf = async (runtime: Runtime, held: () => number, terms: ReadonlySet<Led>): Promise<Health> => {
  const { link, waiting, watchdog, options } = runtime
  const latency = link.isUp ? await latencyOf(runtime) : undefined
  const late = [...terms].filter((term) => term.overdue).length
  const overdue = watchdog.tenures.filter((tenure) => tenure.status() === 'uncertain').length + late
  const leading = [...terms].filter((term) => term.working).length
  const counts = { waiting, held: held(), overdue, leading }
  if (latency !== undefined) return { state: 'up', since: link.since, latency, ...counts }
  if (link.isUp) return { state: 'away', since: Math.round(options.clock.now() - link.silence), ...counts }
  return { state: link.known ? 'away' : 'connecting', since: link.since, ...counts }
}
