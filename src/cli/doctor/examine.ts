import type { Client } from '../../api/client.js'
import { EngineError } from '../../errors.js'
import { systemClock } from '../../base/clock.js'
import { type Probe, probeOf } from '../../probe.js'
import { isA } from '../../thrown.js'
import type { Finding } from './finding.js'
import { examineLocks, type Locks, type Search } from './locks.js'
import { type Rights, rightsAt, rightsFaults, type Untested } from './rights.js'
import { awayServer, type Server, serverAt } from './server.js'
import { clientFaults, serverFaults } from './server-faults.js'

/** A master, and what the user may do there. */
export interface Examined {
  readonly server: Server
  readonly rights: Rights | Untested
}

/** Everything that was found out. */
export interface Report {
  readonly address: string
  readonly servers: readonly Examined[]
  readonly locks: Locks
  readonly findings: readonly Finding[]
}

const examined = async (probe: Probe, user: string | undefined): Promise<readonly Examined[]> => {
  const all: Examined[] = []
  const troubles: EngineError[] = []
  // One after the other, so that the pings do not disturb one another.
  for (const node of probe.masters) {
    try {
      const server = await serverAt(probe, node)
      all.push({ server, rights: await rightsAt(probe, server, user) })
    } catch (error) {
      if (!probe.cluster || !isA(error, EngineError)) throw error
      troubles.push(error)
      all.push({ server: awayServer(probe, node, error), rights: { why: 'it does not answer' } })
    }
  }
  const [trouble] = troubles
  if (trouble !== undefined && troubles.length === all.length) throw trouble
  return all
}

const serverNow = (all: readonly Examined[]): number =>
  systemClock.now() + (all.find(({ server }) => server.away !== true)?.server.clockOff ?? 0)

/** Asks every master, and looks at the locks. `user`: whose rights are tested; undefined: those of the client. */
export const examine = async (
  client: Client,
  search: Omit<Search, 'now'>,
  user: string | undefined,
): Promise<Report> => {
  const probe = probeOf(client)
  const servers = await examined(probe, user)
  const locks = await examineLocks(client, probe, { ...search, now: serverNow(servers) })
  const findings = [
    ...clientFaults(probe),
    ...servers.flatMap(({ server }) => serverFaults(server, probe)),
    ...servers.flatMap(({ server, rights }) => rightsFaults(rights, server, probe, user)),
    ...locks.findings,
  ]
  return { address: probe.address, servers, locks, findings }
}
