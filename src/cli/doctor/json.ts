import { plainJson } from '../../plain-text.js'
import { versionOf } from '../version.js'
import { type Code, faultOf } from './codes.js'
import type { Examined, Report } from './examine.js'
import type { Finding } from './finding.js'
import { softwareOf } from './server.js'

const round = (ms: number): number => Math.round(ms * 100) / 100

const serverOf = ({ server, rights }: Examined): unknown => {
  const { name, info, clockOff, latency, config } = server
  return {
    ...{ type: 'server', server: name, software: info.size === 0 ? null : softwareOf(server) },
    role: info.get('role') ?? null,
    replicas: info.has('connected_slaves') ? Number(info.get('connected_slaves')) : null,
    ping: latency ? { min: round(latency.min), median: round(latency.median), max: round(latency.max) } : null,
    clock: clockOff ?? null,
    appendfsync: config.get('appendfsync') ?? null,
    save: config.get('save') ?? null,
    ...('why' in rights
      ? { user: null, rights: null, someNames: null }
      : { user: rights.user, rights: rights.level, someNames: rights.someNames }),
  }
}

const findingOf = ({ code, about, what, run = [] }: Finding, ignored: ReadonlySet<Code>): unknown => {
  const { why, todo, see } = faultOf(code)
  return { ...{ type: 'finding', code, about, what, why, todo, run, see }, ignored: ignored.has(code) }
}

/** The report for programs, an object a line: the schema is in docs/command-line.md. */
export const jsonLines = (report: Report, ignored: ReadonlySet<Code>): readonly string[] => {
  const { address, servers, locks, findings } = report
  const [holdfast, ioredis] = [versionOf('holdfast'), versionOf('ioredis')]
  return [
    { type: 'client', address, holdfast, ioredis, node: process.versions.node },
    ...servers.map(serverOf),
    { type: 'locks', count: locks.count, scanned: locks.scanned },
    ...findings.map((finding) => findingOf(finding, ignored)),
  ].map((line) => plainJson(line, 0))
}
