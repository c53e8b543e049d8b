import type { Client } from '../../api/client.js'
import { LocalDashboard } from '../dashboard/local.js'
import type { Connect, Connected } from './workers.js'

/** The port of `holdfast dashboard`. */
const PORT = 7420

interface PageOptions {
  readonly connect: Connect
  readonly url: string
  readonly watchdog: number
  readonly workers: readonly string[]
}

/** The demo in a browser: a dashboard of its server, and a client for each worker, so that the page shows their names. */
export interface OnPage {
  readonly clients: ReadonlyMap<string, Connected>
  /** With its token. */
  readonly address: string
  close(): Promise<void>
}

const listen = async (local: LocalDashboard): Promise<string> => {
  const address = (await local.listen(PORT)) ?? (await local.listen(0))
  if (address !== undefined) return address
  throw new Error('no port of 127.0.0.1 is available for the dashboard')
}

export const onPage = async ({ connect, url, watchdog, workers }: PageOptions): Promise<OnPage> => {
  const opened = workers.map(async (label) => [label, await connect({ url, watchdog, label })] as const)
  const clients = new Map(await Promise.all(opened))
  const reader = (await connect({ url, watchdog, presence: false })) as Client
  // A hold that is released by force would look like a broken lock: the demo counts who is inside.
  const local = new LocalDashboard({ client: reader, title: 'demo', leave: 'read' })
  const close = async (): Promise<void> => {
    await local.close()
    await Promise.allSettled([reader, ...clients.values()].map((client) => client.close()))
  }
  return { clients, address: await listen(local), close }
}
