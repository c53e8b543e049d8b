import { readFile, stat } from 'node:fs/promises'
import { readConfig } from '../../config/file/read-file.js'
import { type Settings, settle } from '../../config/settings.js'
import type { Endpoint } from '../../engine/endpoint.js'
import type { Page } from '../command.js'
import { parse, UsageError } from '../usage-error.js'
import { plainJson, plainMessage } from '../../plain-text.js'

const OPTIONS = {
  json: { type: 'boolean', default: false, help: 'print the report as JSON' },
  strict: { type: 'boolean', default: false, help: 'exit with 1 also if something is unsafe' },
} as const

export const page: Page = {
  usage: ['config check FILE [--json] [--strict]'],
  about:
    "Reads a Redisson configuration (YAML, JSON, or Spring's application.yml) as connect({ file }) does, but does not connect. Prints which settings holdfast would use, which it would not, and what is unsafe. Secrets are not shown.",
  options: OPTIONS,
  words: ['check'],
  files: true,
  more: 'The exit code is 0 if the file can be used, 1 if it cannot, and 64 if the\ncommand is wrong.\n',
}

interface Report {
  readonly used: Readonly<Record<string, string | number | boolean>>
  readonly unused: readonly string[]
  readonly unsafe: readonly string[]
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const [word, file, ...more] = positionals
  if (word !== 'check' || file === undefined || more.length > 0) {
    throw new UsageError('config check needs one FILE')
  }
  const report = await check(file)
  process.stdout.write(values.json ? `${plainJson(report)}\n` : textFor(file, report))
  return values.strict && report.unsafe.length > 0 ? 1 : 0
}

const check = async (file: string): Promise<Report> => {
  // The functions for Java's classes are in the program that connects, so any name is accepted here.
  const mappers: string[] = []
  const get = (_: object, name: string) => (mappers.push(name), String)
  const nameMappers = new Proxy({}, { get })
  const filed = await readConfig(file, process.env, { nameMappers })
  const options = Object.fromEntries(Object.entries(filed.options).filter(([, value]) => value !== undefined))
  const settings = settle(options, {}, filed)
  const { place } = settings
  const endpoint = place.engine === 'redis' ? place.endpoint : undefined
  if (endpoint === undefined) return { used: {}, unused: filed.warnings, unsafe: [] }
  const used = {
    ...usedOf(settings, endpoint),
    codec: typeof options['codec'] === 'string' ? options['codec'] : 'json',
    ...(mappers.length > 0 && { nameMapper: `${mappers.join()}, from nameMappers in the program` }),
  }
  return { used, unused: filed.warnings, unsafe: await unsafeOf(settings, endpoint, file) }
}

const usedOf = (settings: Settings, endpoint: Endpoint): Report['used'] => ({
  server: endpoint.address,
  ...(endpoint.database !== undefined && { database: endpoint.database }),
  ...(endpoint.username !== undefined && { username: endpoint.username }),
  ...(endpoint.password !== undefined && { password: MASK }),
  ...(endpoint.sentinelUsername !== undefined && { sentinelUsername: endpoint.sentinelUsername }),
  ...(endpoint.sentinelPassword !== undefined && { sentinelPassword: MASK }),
  ...(endpoint.clientName !== undefined && { clientName: endpoint.clientName }),
  tls: endpoint.tls ? verification(settings) : 'no',
  ...(settings.tls.passphrase !== undefined && { sslKeystorePassword: MASK }),
  ...(endpoint.natMap !== undefined && { natMap: 'yes' }),
  ...(settings.sharded !== undefined && { sharded: settings.sharded }),
  watchdog: settings.watchdog,
  fairWaiterTimeout: settings.fairWaiterTimeout,
  commandTimeout: settings.commandTimeout,
  connectTimeout: settings.connectTimeout,
  'replicas.sync': settings.replicas.sync,
  'replicas.timeout': settings.replicas.timeout,
})

const MASK = '••••••'

const verification = ({ tls: { rejectUnauthorized, checkServerIdentity, cert, pfx } }: Settings): string => {
  const server =
    rejectUnauthorized === false ? 'not checked' : checkServerIdentity ? 'checked, except for its name' : 'checked'
  return `the server is ${server}${(cert ?? pfx) ? ', and the client sends a certificate' : ''}`
}

const unsafeOf = async (settings: Settings, endpoint: Endpoint, file: string): Promise<string[]> => {
  const { tls, password, sentinelPassword, nodes } = endpoint
  const { rejectUnauthorized, checkServerIdentity, passphrase } = settings.tls
  const far = nodes.some((node) => !('path' in node) && !/^(localhost|127\..*|::1)$/.test(node.host))
  const text = await readFile(file, 'utf8')
  const written = [password, sentinelPassword, passphrase].some(
    (secret) => secret !== undefined && text.includes(secret),
  )
  const everybodys = ((await stat(file)).mode & 0o004) !== 0
  const dangers: readonly (readonly [boolean, string])[] = [
    [
      far && !tls,
      'no TLS: anybody on the network path can read and change all traffic, including a password; use rediss://',
    ],
    [far && password === undefined, 'no password: anybody who can reach the server can acquire and release any lock'],
    [
      rejectUnauthorized === false,
      'sslVerificationMode NONE: anybody on the network path can pretend to be the server',
    ],
    [
      checkServerIdentity !== undefined,
      'sslVerificationMode CA_ONLY: any server with a certificate from that authority is trusted',
    ],
    [!settings.replicas.sync, 'checkLockSyncedSlaves false: after a failover, two clients may hold the same lock'],
    [written && everybodys, `${file} contains a password, and every user of this machine can read it`],
  ]
  return dangers.filter(([is]) => is).map(([, what]) => what)
}

const textFor = (file: string, { used, unused, unsafe }: Report): string => {
  const width = Math.max(...Object.keys(used).map((name) => name.length))
  const lines = Object.entries(used).map(([name, value]) => `${name.padEnd(width)}  ${plainMessage(String(value))}`)
  const parts = [
    section(`${plainMessage(file)} can be used:`, lines),
    section('Not used, or not used as written:', unused.map(plainMessage)),
    section('Unsafe:', unsafe.map(plainMessage)),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : [title, ...lines.map((line) => `  ${line}`), ''].join('\n')
