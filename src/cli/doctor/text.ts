import { plainMessage, plainText } from '../../plain-text.js'
import { WIDTH, wrapped } from '../text/wrap.js'
import { versionOf } from '../version.js'
import { type Code, CODES, faultOf } from './codes.js'
import type { Examined, Report } from './examine.js'
import type { Finding } from './finding.js'
import { type Latency, type Server, softwareOf } from './server.js'
import type { Rights, Untested } from './rights.js'

/** How many findings with the same code are shown. */
const SHOWN = 20

const ms = (time: number): string => (time < 10 ? time.toFixed(1) : String(Math.round(time)))

const pings = ({ min, median, max }: Latency): string => `ping ${ms(min)}/${ms(median)}/${ms(max)} ms`

const clockText = (off: number): string =>
  off === 0 ? 'its clock is this machine’s' : `its clock is ${Math.abs(off)} ms ${off > 0 ? 'ahead' : 'behind'}`

const several = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

const roleText = ({ info }: Server): string =>
  info.get('role') === 'slave' ? 'a replica' : several(Number(info.get('connected_slaves') ?? 0), 'replica')

const LEVELS: Readonly<Record<Rights['level'], string>> = {
  full: 'may acquire and release',
  looks: 'may only look',
  less: 'lacks commands',
}

const rightsText = (rights: Rights | Untested): string => {
  if ('why' in rights) return `rights not tested (${plainMessage(rights.why)}); try --user USER as another user`
  const { user, level, someNames } = rights
  return `user ${plainText(user)}: ${LEVELS[level]}${someNames ? ', only some names' : ''}`
}

const serverLines = ({ server, rights }: Examined): readonly string[] => {
  const { info, latency, clockOff } = server
  if (server.away === true) return [plainText(server.name), '  does not answer']
  const parts = [
    ...(info.size === 0 ? [] : [plainText(softwareOf(server)), roleText(server)]),
    ...(latency === undefined ? [] : [pings(latency)]),
    ...(clockOff === undefined ? [] : [clockText(clockOff)]),
  ]
  return [plainText(server.name), `  ${parts.join(', ')}`, `  ${rightsText(rights)}`]
}

/** What was examined. */
const factLines = ({ servers, locks }: Report): readonly string[] => {
  const where = locks.scanned ? 'all keys scanned' : 'held or waited for longer than a second; --scan also finds others'
  return [
    `holdfast ${versionOf('holdfast')}, ioredis ${versionOf('ioredis')}, Node ${process.versions.node}`,
    ...servers.flatMap(serverLines),
    `${several(locks.count, 'lock')} (${where})`,
  ]
}

const indented = (text: string): readonly string[] => wrapped(text, WIDTH - 2).map((line) => `  ${line}`)

const findingLine = ({ code, about, what }: Finding): string => `${code}: ${plainText(about)}: ${plainMessage(what)}`

const groupLines = (code: Code, findings: readonly Finding[]): readonly string[] => {
  const { why, todo, see } = faultOf(code)
  const shown = findings.slice(0, SHOWN)
  const more = findings.length - shown.length
  const commands = new Set(shown.flatMap(({ run = [] }) => run))
  return [
    '',
    ...shown.map(findingLine),
    ...(more > 0 ? [`  … and ${more} more; --json prints all`] : []),
    ...indented(why),
    ...indented(todo),
    ...[...commands].map((command) => `    ${command}`),
    `  See ${see}`,
  ]
}

/** Stuck locks come first, and what only matters after a restart last. */
const FIRST: readonly Code[] = [
  ...(['no-answer', 'dead-holder', 'no-expiry', 'deadlock', 'unknown-holder', 'long-wait'] as const),
  ...(['unreadable-label', 'dead-place'] as const),
]
const LAST: readonly Code[] = ['fsync', 'persistence']
const IN_ORDER: readonly Code[] = [
  ...FIRST,
  ...CODES.filter((code) => !FIRST.includes(code) && !LAST.includes(code)),
  ...LAST,
]

const byCode = (findings: readonly Finding[]): readonly (readonly [Code, readonly Finding[]])[] =>
  IN_ORDER.map((code) => [code, findings.filter((one) => one.code === code)] as const).filter(
    ([, some]) => some.length > 0,
  )

/** How many findings with the same code are in the summary. */
const SUMMED = 5

/** Of a long report, a terminal shows the end. */
const summary = ([code, some]: readonly [Code, readonly Finding[]]): readonly string[] => {
  const more = some.length > SUMMED ? ` … and ${some.length - SUMMED} more` : ''
  const about = some.slice(0, SUMMED).map((one) => plainText(one.about))
  return [`${code}: ${about.join(', ')}${more}`]
}

const ending = (counted: readonly Finding[], accepted: readonly Finding[]): readonly string[] => {
  const count = counted.length === 0 ? 'nothing found' : several(counted.length, 'finding')
  const ignored = byCode(accepted).map(([code, some]) => `${code} (${some.length})`)
  const end = ignored.length === 0 ? count : `${count}; ignored: ${ignored.join(', ')}`
  return ['', ...(counted.length > 1 ? byCode(counted).flatMap(summary) : []), end]
}

/** The report for people. `quiet`: only what was found. */
export const textLines = (report: Report, ignored: ReadonlySet<Code>, quiet: boolean): readonly string[] => {
  const counted = report.findings.filter(({ code }) => !ignored.has(code))
  const accepted = report.findings.filter(({ code }) => ignored.has(code))
  const groups = byCode(counted).flatMap(([code, some]) => groupLines(code, some))
  return quiet ? groups.slice(1) : [...factLines(report), ...groups, ...ending(counted, accepted)]
}
