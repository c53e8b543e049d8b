import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { FIELDS, type Mode, SECTIONS } from '#src/config/file/redisson-fields.js'
import { readConfig } from '#src/config/file/read-file.js'
import type { Endpoint } from '#src/engine/endpoint.js'
import type { Filed } from '#src/config/client-options.js'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'))
after(() => rm(folder, { recursive: true, force: true }))

/** A file of this name; all files of a test program are beside each other. Its path. */
export const written = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

type Beside = Parameters<typeof readConfig>[2]

export const read = (
  content: string,
  { env = {}, name = 'redisson.yml', ...beside }: Beside & { env?: Record<string, string>; name?: string } = {},
): Promise<Filed> => readConfig(written(name, content), env, beside)

export const endpointOf = ({ place }: Filed): Endpoint => {
  if (place.engine !== 'redis') throw new Error('no server')
  return place.endpoint
}

/** What a warning or an error says, without where the file is. */
export const told = (text: string): string => text.replaceAll(`${folder}/`, '')

const CLASS = (name: string): string => `!<org.redisson.${name}> {}`
const DELAY = '!<org.redisson.config.EqualJitterDelay> {baseDelay: PT1S, maxDelay: PT2S}'

/** As they stand in the samples of Redisson's documentation, or as near as can be; `1000` for any other number. */
const SAMPLES: Readonly<Record<string, string>> = {
  address: '"redis://127.0.0.1:6379"',
  masterAddress: '"redis://127.0.0.1:6379"',
  sentinelAddresses: '["redis://127.0.0.1:26379", "redis://127.0.0.1:26389"]',
  nodeAddresses: '["redis://127.0.0.1:7004", "redis://127.0.0.1:7001"]',
  slaveAddresses: '["redis://127.0.0.1:6381"]',
  masterName: 'mymaster',
  codec: CLASS('codec.JsonJacksonCodec'),
  codecProvider: CLASS('codec.DefaultCodecProvider'),
  resolverProvider: CLASS('liveobject.provider.DefaultResolverProvider'),
  referenceCodecProvider: CLASS('codec.DefaultReferenceCodecProvider'),
  loadBalancer: CLASS('connection.balancer.RoundRobinLoadBalancer'),
  failedSlaveNodeDetector: CLASS('client.FailedConnectionDetector'),
  addressResolverGroupFactory: CLASS('connection.SequentialDnsAddressResolverFactory'),
  nettyHook: CLASS('client.DefaultNettyHook'),
  nameMapper: CLASS('config.DefaultNameMapper'),
  commandMapper: CLASS('config.DefaultCommandMapper'),
  credentialsResolver: CLASS('config.DefaultCredentialsResolver'),
  natMapper: '!<org.redisson.config.HostPortNatMapper> {hostsPortMap: {"10.0.0.1:7001": "127.0.0.1:7001"}}',
  natMap: '{"10.0.0.1:7001": "127.0.0.1:7001"}',
  retryDelay: DELAY,
  reconnectionDelay: DELAY,
  database: '0',
  username: 'app',
  password: 'secret',
  sentinelUsername: 'watcher',
  sentinelPassword: 'watched',
  clientName: 'orders',
  sslVerificationMode: 'STRICT',
  sslProtocols: '[TLSv1.2, TLSv1.3]',
  sslCiphers: '[TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]',
  readMode: 'SLAVE',
  subscriptionMode: 'SLAVE',
  shardedSubscriptionMode: 'AUTO',
  slavesSyncTimeout: '500',
  protocol: 'RESP2',
  transportMode: '"NIO"',
}
const FLAGS =
  /^(check|use|keep|tcp(KeepAlive|NoDelay)$|referenceEnabled|sentinelsDiscovery|monitor|fallback|sslEnable|dnsMonitoring$)/

export const sampleOf = (name: string): string => SAMPLES[name] ?? (FLAGS.test(name) ? 'true' : '1000')

/** Their files are read, so there must be one: the tests of TLS are for them. */
const STORES = ['sslTruststore', 'sslKeystore', 'sslKeystorePassword']

const fieldsOf = (...places: string[]): string[] =>
  FIELDS.filter(({ name, where, fate }) => places.includes(where) && fate !== 'refused' && !STORES.includes(name)).map(
    ({ name }) => name,
  )

/** Every field of a mode: those that may be in either place are in the root where `anyInRoot`. */
export const everyField = (
  section: string,
  anyInRoot: boolean,
): { readonly text: string; readonly names: readonly string[] } => {
  const mode = SECTIONS[section] as Mode
  const inside = fieldsOf('section', mode, ...(mode === 'single' ? [] : ['replicas']), ...(anyInRoot ? [] : ['any']))
  const root = fieldsOf('root', ...(anyInRoot ? ['any'] : []))
  const text = [
    `${section}:`,
    ...inside.map((name) => `  ${name}: ${sampleOf(name)}`),
    ...root.map((name) => `${name}: ${sampleOf(name)}`),
  ].join('\n')
  return { text, names: [...inside, ...root] }
}
