/**
 * Every field that a Redisson since 3.0 knows, and what becomes of it here. The only such list: what reads a file asks it, and
 * the table of docs/configuration.md is made of it.
 */
export interface Field {
  readonly name: string
  readonly where: Where
  readonly fate: 'honoured' | 'ignored' | 'refused'
  /** What it becomes, or why not. */
  readonly note: string
  /** Honoured where it is this, since that is what is done; else ignored. */
  readonly only?: string | undefined
}

/** `any`: in the root since 4.0, in a section before and still. `section`: in all of them. `replicas`: in all but the single server's. */
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

const JAVA = ignored('it belongs to the Java machine')
const THREADS = ignored('there are no threads here')
const POOL = ignored('there is one connection for commands and one for messages')
const PRO = ignored('of Redisson PRO alone')
const LATER = ignored('nothing is sent twice; a call that waits asks again until its wait ends')
const REPLICAS = ignored('nothing is asked of replicas')
const DNS = ignored('names are resolved at each connection')
const OBJECTS = ignored('there are no such objects here')
const SCAN = ignored('the topology is asked for when a connection or an answer says that it has changed')
const NO_PRO = refused('of Redisson PRO alone: name the servers in one of the other sections')

const ROOT: Rows = {
  codec: honoured(
    '`codec`, of topics, keys of a group, and scripts that ask for it; a class that only Java has is a warning, and an error where a value or a keyed lock needs it',
  ),
  lockWatchdogTimeout: honoured('`watchdog`'),
  lockWatchdogBatchSize: ignored('renewals go out in batches of their own'),
  fairLockWaitTimeout: honoured('`fairWaiterTimeout`'),
  checkLockSyncedSlaves: honoured('`replicas.sync`; with `false` replicas are not waited for at all'),
  slavesSyncTimeout: honoured('`replicas.timeout`; it must be below `timeout`, else half of that is taken'),
  keepPubSubOrder: only('true', 'messages of a channel always come in their order'),
  useScriptCache: only('true', 'scripts always go by their SHA-1'),
  lazyInitialization: only('false', '`connect` connects'),
  protocol: only('RESP2', 'RESP2 is spoken: the same answers'),
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
  connectionListener: ignored('listen to `reconnect` of the client'),
  connectionManager: JAVA,
  addressResolverGroupFactory: DNS,
  valkeyCapabilities: ignored('a cluster tells where a key is'),
  executorServiceWorkers: OBJECTS,
  mapReduceWorkers: OBJECTS,
  redissonNodeInitializer: OBJECTS,
  beanFactory: OBJECTS,
  registrationKey: PRO,
  meterMode: PRO,
  meterRegistryProvider: PRO,
  performanceMode: PRO,
  secretKey: refused(
    'of Redisson PRO alone, as are passwords with `{aes}`: take the passwords from the environment, as `${NAME}`',
  ),
  proxyServersConfig: NO_PRO,
  multiClusterServersConfig: NO_PRO,
  multiSentinelServersConfig: NO_PRO,
}

const ANY: Rows = {
  username: honoured('before the one of the section; that of an address goes before both'),
  password: honoured('as `username`; `{aes}…` of Redisson PRO is refused'),
  credentialsResolver: refused(
    'it is Java code: give `username` and `password`, from the environment as `${NAME}`; with a password beside it, it is ignored',
  ),
  nameMapper: honoured(
    'the function of this class in `nameMappers` of `connect`, or `mapName`; without either it is refused, since keys would differ',
  ),
  commandMapper: only(
    'DefaultCommandMapper',
    'commands have their own names; a server that knows them by others refuses them',
  ),
  sslVerificationMode: honoured('`NONE`, `CA_ONLY`, `STRICT`'),
  sslTruststore: honoured('PEM; PKCS#12 and JKS are refused, with the command that turns them into PEM'),
  sslTruststorePassword: ignored('PEM has none'),
  sslKeystore: honoured(
    'PKCS#12, or PEM with key and certificates; JKS is refused, with the command that turns it into PKCS#12',
  ),
  sslKeystorePassword: honoured('of the key'),
  sslKeystoreType: ignored('it is seen by the file'),
  sslProtocols: honoured('the lowest and the highest of them'),
  sslCiphers: honoured('by the names of Java or of OpenSSL'),
  sslProvider: JAVA,
  sslTrustManagerFactory: ignored('it is Java code: `sslTruststore`'),
  sslKeyManagerFactory: ignored('it is Java code: `sslKeystore`'),
  tcpKeepAlive: honoured('of the sockets; on unless it is `false`'),
  tcpKeepAliveIdle: honoured('seconds; 30 unless given'),
  tcpKeepAliveCount: ignored('the system’s is used'),
  tcpKeepAliveInterval: ignored('the system’s is used'),
  tcpUserTimeout: ignored('`timeout` tells of a connection that is dead'),
  tcpNoDelay: honoured('of the sockets; on unless it is `false`'),
}

const SECTION: Rows = {
  timeout: honoured('`commandTimeout`'),
  connectTimeout: honoured('`connectTimeout`'),
  clientName: honoured('CLIENT SETNAME on each connection'),
  database: honoured('SELECT; a cluster has 0 alone, another is refused'),
  subscriptionTimeout: ignored('to subscribe is a command: `timeout`'),
  retryAttempts: LATER,
  retryDelay: LATER,
  retryInterval: LATER,
  reconnectionDelay: ignored('20 ms to 2 s, with jitter: holds must be asked about before their leases end'),
  reconnectionTimeout: ignored('it is tried until the client is closed'),
  failedAttempts: LATER,
  pingConnection: ignored('a dead connection shows by `timeout`'),
  pingConnectionInterval: ignored('a dead connection shows by `timeout`'),
  pingTimeout: ignored('a dead connection shows by `timeout`'),
  keepAlive: honoured('as `tcpKeepAlive`'),
  sslEnableEndpointIdentification: honoured(
    '`false` is `sslVerificationMode: NONE`, as in Redisson; that goes before it',
  ),
  credentialsReapplyInterval: ignored('who connects says its password once'),
  idleConnectionTimeout: POOL,
  subscriptionsPerConnection: POOL,
  subscriptionConnectionMinimumIdleSize: POOL,
  subscriptionConnectionPoolSize: POOL,
  dnsMonitoring: DNS,
  dnsMonitoringInterval: DNS,
  dnsMonitoringTimes: DNS,
}

const WITH_REPLICAS: Rows = {
  readMode: only('MASTER', 'everything is asked of the master'),
  subscriptionMode: only('MASTER', 'messages come from the master; who publishes need not know'),
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
  '`HostPortNatMapper`, `HostNatMapper`, and their maps; another class is refused: addresses would differ',
)
const NAT_MAP = honoured('as the `hostsPortMap` of a `HostPortNatMapper`')

const SINGLE: Rows = {
  address: honoured('the server; a port is needed, a user and password may be in it'),
  connectionMinimumIdleSize: POOL,
  connectionPoolSize: POOL,
}

const MASTER_SLAVE: Rows = {
  masterAddress: honoured('the server; how many replicas it has, it says itself'),
  slaveAddresses: REPLICAS,
}

const SENTINEL: Rows = {
  sentinelAddresses: honoured('the sentinels'),
  masterName: honoured('what they call the servers'),
  sentinelUsername: honoured('of the sentinels'),
  sentinelPassword: honoured(
    'of the sentinels; without it they are told none, where Redisson tries `password` if they ask',
  ),
  sentinelsDiscovery: honoured('with `false` only those of `sentinelAddresses` are asked'),
  natMapper: NAT,
  natMap: NAT_MAP,
  scanInterval: SCAN,
  checkSentinelsList: ignored('one sentinel that answers is enough'),
  checkSlaveStatusWithSyncing: REPLICAS,
}

const CLUSTER: Rows = {
  nodeAddresses: honoured('some of its nodes'),
  shardedSubscriptionMode: honoured(
    'whether releases are published with SPUBLISH: must be the same for every client on these keys',
  ),
  natMapper: NAT,
  natMap: NAT_MAP,
  scanInterval: SCAN,
  checkSlotsCoverage: ignored('a name whose slot nobody has is refused by the server'),
  checkMasterLinkStatus: REPLICAS,
  slots: PRO,
  topicSlots: PRO,
}

const REPLICATED: Rows = {
  nodeAddresses: honoured('all of them are asked which is the master, at each connection'),
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

/** Spring writes names as it likes. */
const loosely = (name: string): string => name.replaceAll('-', '').toLowerCase()

export const fieldOf = (name: string, place: 'root' | Mode, loose: boolean): Field | undefined => {
  const places = placesIn(place)
  return FIELDS.find(
    (field) =>
      places.includes(field.where) && (field.name === name || (loose && loosely(field.name) === loosely(name))),
  )
}

/** The section of this name. */
export const modeOf = (name: string, loose: boolean): Mode | undefined =>
  Object.entries(SECTIONS).find(([section]) => section === name || (loose && loosely(section) === loosely(name)))?.[1]
