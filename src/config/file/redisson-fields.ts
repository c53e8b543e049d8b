/**
 * Every field that any Redisson since 3.0 knows, and what becomes of it here. This is the only such list: the reader of files uses it,
 * and the table of docs/configuration.md is made from it.
 */
export interface Field {
  readonly name: string
  readonly where: Where
  readonly fate: 'honoured' | 'ignored' | 'refused'
  /** What the field becomes, or why it is not used. */
  readonly note: string
  /** Honoured only with this value, because holdfast always behaves so; else ignored. */
  readonly only?: string | undefined
}

/**
 * `any`: in the root since 4.0, and in a section as before. `section`: in every section. `replicas`: in every section but the single
 * server's.
 */
export type Where = 'root' | 'any' | 'section' | 'replicas' | Mode
export type Mode = 'single' | 'masterSlave' | 'sentinel' | 'cluster' | 'replicated'

/** In the order in which Redisson looks for them. */
export const SECTIONS: Readonly<Record<string, Mode>> = {
  masterSlaveServersConfig: 'masterSlave',
  singleServerConfig: 'single',
  sentinelServersConfig: 'sentinel',
  clusterServersConfig: 'cluster',
  replicatedServersConfig: 'replicated',
  elasticacheServersConfig: 'replicated',
}

type Rows = Readonly<Record<string, Omit<Field, 'name' | 'where'>>>
type Row = Rows[string]

const honoured = (note: string): Row => ({ fate: 'honoured', note })
const ignored = (note: string): Row => ({ fate: 'ignored', note })
const refused = (note: string): Row => ({ fate: 'refused', note })
const only = (value: string, note: string): Row => ({ fate: 'honoured', only: value, note })

const JAVA = ignored('it concerns only the Java virtual machine')
const THREADS = ignored('there are no threads here')
const POOL = ignored('holdfast has one connection for commands and one for messages')
const PRO = ignored('only Redisson PRO has it')
const LATER = ignored('no command is sent twice; a call that waits retries until its wait ends')
const REPLICAS = ignored('holdfast asks nothing of replicas')
const DNS = ignored('holdfast resolves names at each connection')
const OBJECTS = ignored('holdfast has no such objects')
const SCAN = ignored('holdfast asks for the topology when a connection or an answer says that it has changed')
const NO_PRO = refused('only Redisson PRO has it: name the servers in one of the other sections')

const ROOT: Rows = {
  codec: honoured(
    '`codec`, for topics, keys of a group, and scripts that ask for it; a class that only Java has is a warning, and an error if a value or a keyed lock needs it',
  ),
  lockWatchdogTimeout: honoured('`watchdog`'),
  lockWatchdogBatchSize: ignored('holdfast batches renewals in its own way'),
  fairLockWaitTimeout: honoured('`fairWaiterTimeout`'),
  checkLockSyncedSlaves: honoured('`replicas.sync`; with `false`, calls do not wait for replicas at all'),
  slavesSyncTimeout: honoured('`replicas.timeout`; it must be below `timeout`, otherwise half of that is used'),
  keepPubSubOrder: only('true', 'messages of a channel always arrive in order'),
  useScriptCache: only('true', 'scripts are always called by their SHA-1'),
  lazyInitialization: only('false', '`connect` always connects at once'),
  protocol: only('RESP2', 'holdfast speaks RESP2; the answers are the same'),
  reliableTopicWatchdogTimeout: OBJECTS,
  minCleanUpDelay: OBJECTS,
  maxCleanUpDelay: OBJECTS,
  cleanUpKeysAmount: OBJECTS,
  referenceEnabled: OBJECTS,
  redissonReferenceEnabled: OBJECTS,
  referenceCodecProvider: OBJECTS,
  codecProvider: OBJECTS,
  resolverProvider: OBJECTS,
  threads: THREADS,
  nettyThreads: THREADS,
  executor: THREADS,
  nettyExecutor: THREADS,
  eventLoopGroup: THREADS,
  decodeInExecutor: THREADS,
  transportMode: JAVA,
  useLinuxNativeEpoll: JAVA,
  nettyHook: JAVA,
  useThreadClassLoader: JAVA,
  connectionListener: ignored('listen to the `reconnect` event of the client'),
  connectionManager: JAVA,
  addressResolverGroupFactory: DNS,
  valkeyCapabilities: ignored('the cluster itself says which node has a key'),
  executorServiceWorkers: OBJECTS,
  mapReduceWorkers: OBJECTS,
  redissonNodeInitializer: OBJECTS,
  beanFactory: OBJECTS,
  registrationKey: PRO,
  meterMode: PRO,
  meterRegistryProvider: PRO,
  performanceMode: PRO,
  secretKey: refused(
    'only Redisson PRO has it, like passwords with `{aes}`: take the passwords from the environment, as `${NAME}`',
  ),
  proxyServersConfig: NO_PRO,
  multiClusterServersConfig: NO_PRO,
  multiSentinelServersConfig: NO_PRO,
}

const ANY: Rows = {
  username: honoured('takes precedence over the one of the section; that of an address takes precedence over both'),
  password: honoured('as `username`; `{aes}…` of Redisson PRO is refused'),
  credentialsResolver: refused(
    'it is Java code: give `username` and `password`, from the environment as `${NAME}`; if there is a password beside it, it is ignored',
  ),
  nameMapper: honoured(
    'the function for this class in `nameMappers` of `connect`, or `mapName`; without either it is refused, because keys would differ',
  ),
  commandMapper: only(
    'DefaultCommandMapper',
    'holdfast uses the standard names of commands; a server that knows them by other names refuses them',
  ),
  sslVerificationMode: honoured('`NONE`, `CA_ONLY`, `STRICT`'),
  sslTruststore: honoured('PEM; PKCS#12 and JKS are refused, with the command that turns them into PEM'),
  sslTruststorePassword: ignored('a PEM file has no password'),
  sslKeystore: honoured(
    'PKCS#12, or PEM with key and certificates; JKS is refused, with the command that turns it into PKCS#12',
  ),
  sslKeystorePassword: honoured('the password of the key'),
  sslKeystoreType: ignored('the file itself shows its type'),
  sslProtocols: honoured('the lowest and the highest of them'),
  sslCiphers: honoured('by their Java or OpenSSL names'),
  sslProvider: JAVA,
  sslTrustManagerFactory: ignored('it is Java code: use `sslTruststore`'),
  sslKeyManagerFactory: ignored('it is Java code: use `sslKeystore`'),
  tcpKeepAlive: honoured('for all sockets; on unless it is `false`'),
  tcpKeepAliveIdle: honoured('in seconds; 30 by default'),
  tcpKeepAliveCount: ignored('the operating system’s value is used'),
  tcpKeepAliveInterval: ignored('the operating system’s value is used'),
  tcpUserTimeout: ignored('`timeout` detects a dead connection'),
  tcpNoDelay: honoured('for all sockets; on unless it is `false`'),
}

const SECTION: Rows = {
  timeout: honoured('`commandTimeout`'),
  connectTimeout: honoured('`connectTimeout`'),
  clientName: honoured('CLIENT SETNAME on each connection'),
  database: honoured('SELECT; a cluster has only 0, and another is refused'),
  subscriptionTimeout: ignored('subscribing is a command, so `timeout` applies'),
  retryAttempts: LATER,
  retryDelay: LATER,
  retryInterval: LATER,
  reconnectionDelay: ignored('40 ms to 2 s, with jitter: holdfast must ask about its holds before their leases end'),
  reconnectionTimeout: ignored('holdfast retries until the client is closed'),
  failedAttempts: LATER,
  pingConnection: ignored('`timeout` detects a dead connection'),
  pingConnectionInterval: ignored('`timeout` detects a dead connection'),
  pingTimeout: ignored('`timeout` detects a dead connection'),
  keepAlive: honoured('as `tcpKeepAlive`'),
  sslEnableEndpointIdentification: honoured(
    '`false` means `sslVerificationMode: NONE`, as in Redisson; if both are given, `sslVerificationMode` takes precedence',
  ),
  credentialsReapplyInterval: ignored('a connection sends its password only once'),
  idleConnectionTimeout: POOL,
  subscriptionsPerConnection: POOL,
  subscriptionConnectionMinimumIdleSize: POOL,
  subscriptionConnectionPoolSize: POOL,
  dnsMonitoring: DNS,
  dnsMonitoringInterval: DNS,
  dnsMonitoringTimes: DNS,
}

const WITH_REPLICAS: Rows = {
  readMode: only('MASTER', 'all commands go to the master'),
  subscriptionMode: only('MASTER', 'messages come from the master; publishers need not know that'),
  loadBalancer: REPLICAS,
  failedSlaveCheckInterval: REPLICAS,
  failedSlaveNodeDetector: REPLICAS,
  failedSlaveReconnectionInterval: REPLICAS,
  fallbackLoadingToMaster: REPLICAS,
  masterConnectionMinimumIdleSize: POOL,
  masterConnectionPoolSize: POOL,
  slaveConnectionMinimumIdleSize: POOL,
  slaveConnectionPoolSize: POOL,
  slaveSubscriptionConnectionMinimumIdleSize: POOL,
  slaveSubscriptionConnectionPoolSize: POOL,
}

const NAT = honoured(
  '`HostPortNatMapper`, `HostNatMapper`, and their maps; another class is refused, because addresses would differ',
)
const NAT_MAP = honoured('as the `hostsPortMap` of a `HostPortNatMapper`')

const SINGLE: Rows = {
  address: honoured('the server; a port is required, a user and password may be in it'),
  connectionMinimumIdleSize: POOL,
  connectionPoolSize: POOL,
}

const MASTER_SLAVE: Rows = {
  masterAddress: honoured('the server; it says itself how many replicas it has'),
  slaveAddresses: REPLICAS,
}

const SENTINEL: Rows = {
  sentinelAddresses: honoured('the sentinels'),
  masterName: honoured('the name that the sentinels know the master by'),
  sentinelUsername: honoured('for the sentinels'),
  sentinelPassword: honoured(
    'for the sentinels; without it, holdfast sends them none, but Redisson tries `password` if they ask',
  ),
  sentinelsDiscovery: honoured('with `false`, only those of `sentinelAddresses` are asked'),
  natMapper: NAT,
  natMap: NAT_MAP,
  scanInterval: SCAN,
  checkSentinelsList: ignored('one sentinel that answers is enough'),
  checkSlaveStatusWithSyncing: REPLICAS,
}

const CLUSTER: Rows = {
  nodeAddresses: honoured('some of the nodes'),
  shardedSubscriptionMode: honoured(
    'whether releases are published with SPUBLISH; it must be the same for every client on these keys',
  ),
  natMapper: NAT,
  natMap: NAT_MAP,
  scanInterval: SCAN,
  checkSlotsCoverage: ignored('the server refuses a name whose slot no node has'),
  checkMasterLinkStatus: REPLICAS,
  slots: PRO,
  topicSlots: PRO,
}

const REPLICATED: Rows = {
  nodeAddresses: honoured('at each connection, holdfast asks all of them which is the master'),
  natMapper: NAT,
  scanInterval: SCAN,
  monitorIPChanges: DNS,
}

const rows = (where: Where, of: Rows): Field[] => Object.entries(of).map(([name, row]) => ({ name, where, ...row }))

export const FIELDS: readonly Field[] = [
  ...rows('root', ROOT),
  ...rows('any', ANY),
  ...rows('section', SECTION),
  ...rows('replicas', WITH_REPLICAS),
  ...rows('single', SINGLE),
  ...rows('masterSlave', MASTER_SLAVE),
  ...rows('sentinel', SENTINEL),
  ...rows('cluster', CLUSTER),
  ...rows('replicated', REPLICATED),
]

const placesIn = (place: 'root' | Mode): readonly Where[] => {
  if (place === 'root') return ['root', 'any']
  return place === 'single' ? ['any', 'section', 'single'] : ['any', 'section', 'replicas', place]
}

/** Spring allows several spellings of a name. */
const loosely = (name: string): string => name.replaceAll('-', '').toLowerCase()

export const fieldOf = (name: string, place: 'root' | Mode, loose: boolean): Field | undefined => {
  const places = placesIn(place)
  return FIELDS.find(
    (field) =>
      places.includes(field.where) && (field.name === name || (loose && loosely(field.name) === loosely(name))),
  )
}

/** The mode of the section with this name. */
export const modeOf = (name: string, loose: boolean): Mode | undefined =>
  Object.entries(SECTIONS).find(([section]) => section === name || (loose && loosely(section) === loosely(name)))?.[1]
