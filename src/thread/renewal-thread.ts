/** The program of the thread that renews the holds of its process whenever the event loop there is blocked. */
import process from 'node:process'
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../base/clock.js'
import { AfterReconnect } from '../core/client/after-reconnect.js'
import type { SharedHold, ThreadNews } from '../core/hold/renewal-thread-handle.js'
import { behind } from '../core/hold/proof-between-threads.js'
import type { Tenure, TenureClient } from '../core/hold/tenure.js'
import { Watchdog } from '../core/hold/watchdog.js'
import type { Driver } from '../engine/driver.js'
import { Link } from '../engine/link.js'
import type { ConnectLimits } from '../engine/connect-limits.js'
import { type DriverSettings, openDriver } from '../open-driver.js'
import { retryConnect } from '../retry-connect.js'
import { textOf } from '../thrown.js'
import { clientBeside, tenureBeside } from './tenure-beside.js'
import type { ThreadData, ThreadMessage } from './open.js'
import { ticks } from './ticks.js'

const data = workerData as ThreadData
const clock = systemClock
const ignore = (): void => undefined
const say = (message: ThreadMessage): void => parentPort?.postMessage(message)
const warn = (text: string): void => say({ level: 'warn', text })

const settings: DriverSettings = {
  place: { engine: 'redis', endpoint: data.endpoint },
  tls: { ...data.tls, ...(data.anyName && { checkServerIdentity: () => undefined }) },
  clock,
  connectTimeout: data.connectTimeout,
  commandTimeout: data.commandTimeout,
}

/** The event loop that it stands in for has been blocked for too long. */
const alive = new Float64Array(data.alive)
const hung = (): boolean => ticks() - (alive[0] ?? 0) > data.maxBlocked

/** The watchdog of the process renews when a third of the lease is over, so this one waits a little longer: ms after the last proof. */
const LATER = 0.4
const upkeepAt = ({ lease, provenAt, lastsUntil }: Tenure): number =>
  provenAt + LATER * Math.min(lease, lastsUntil - provenAt)

const linked = (driver: Driver): { readonly link: Link; readonly watchdog: Watchdog } => {
  const link = new Link(
    driver,
    { clock, ...data },
    {
      message: ignore,
      reconnected: () => changed.reconnected(),
      moved: () => changed.moved(),
      gap: ignore,
      unheard: ignore,
      error: (error) => warn(textOf(error)),
    },
  )
  const watchdog = new Watchdog({
    clock,
    runner: link,
    cluster: driver.cluster,
    lease: data.lease,
    isUp: () => driver.isUp && !hung(),
    upkeepAt,
  })
  const changed = new AfterReconnect({
    options: { clock },
    watchdog,
    replicas: { look: () => Promise.resolve() },
    subscriptions: { gap: ignore },
    serverTimes: new Map(),
    questions: new Set(),
    lockEvents: { reconnected: ignore },
  })
  return { link, watchdog }
}

const connected = (): Promise<Watchdog> => {
  const logger = { debug: ignore, info: ignore, warn, error: warn }
  const once = async (limits?: ConnectLimits): Promise<Watchdog> => {
    const { link, watchdog } = linked(await openDriver(settings, false))
    await link.open(limits)
    return watchdog
  }
  return retryConnect({ ...settings, retry: {}, logger }, once)
}

/** By their numbers. */
const tenures = new Map<number, Tenure>()
const clocks = behind(clock, ticks)

const learn = (client: TenureClient, watchdog: Watchdog, { over, hold }: ThreadNews): void => {
  for (const number of hold === undefined ? over : [...over, hold.number]) {
    const gone = tenures.get(number)
    if (gone === undefined) continue
    gone.end()
    watchdog.remove(gone)
    tenures.delete(number)
  }
  if (hold === undefined) return
  const tenure = tenureBeside(client, hold, clocks)
  if (tenure.over) return
  tenures.set(hold.number, tenure)
  watchdog.add(tenure)
}

const start = async (): Promise<void> => {
  const early = new Map<number, SharedHold>()
  const keep = ({ over, hold }: ThreadNews): void => {
    for (const number of over) early.delete(number)
    if (hold !== undefined) early.set(hold.number, hold)
  }
  parentPort?.on('message', keep)
  const watchdog = await connected()
  const client = clientBeside(clock, watchdog)
  parentPort?.off('message', keep)
  parentPort?.on('message', (news: ThreadNews) => learn(client, watchdog, news))
  for (const hold of early.values()) learn(client, watchdog, { over: [], hold })
  say({ level: 'debug', text: 'connected' })
}

start().catch((error: unknown) => {
  warn(textOf(error))
  process.exit(1)
})
