/** Where to connect: what a URL says, with nothing left to guess. */
export interface Target {
  /** For people: no user, no password. */
  readonly address: string
  readonly nodes: readonly Node[]
  /** Of `sentinel`, the nodes are the sentinels; of `replicated`, a master and its replicas, whichever that is by now. */
  readonly topology: 'single' | 'sentinel' | 'replicated' | 'cluster'
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly database?: number | undefined
  /** What the sentinels call the servers that they watch. */
  readonly master?: string | undefined
  readonly sentinelUsername?: string | undefined
  readonly sentinelPassword?: string | undefined
  /** `false`: sentinels that the others tell of are not asked. */
  readonly sentinelsDiscovery?: boolean | undefined
  readonly tls: boolean
  /** CLIENT SETNAME. */
  readonly clientName?: string | undefined
  /** ms until the first probe, or none at all. */
  readonly keepAlive?: number | false | undefined
  readonly noDelay?: boolean | undefined
  readonly natMap?: NatMap | undefined
}

/** From an address that servers tell of one another, `host:port`, to the one that it has for us. */
export type NatMap = (address: string) => { host: string; port: number } | null

export type Node = { readonly host: string; readonly port: number } | { readonly path: string }

/** What `node:tls` needs beyond the host and the port; certificates and keys in PEM, text or bytes. */
export interface TlsOptions {
  /** Who may vouch for the server, instead of those that Node trusts. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined
  /** Of this client, where the server asks for one; with its `key`. */
  readonly cert?: string | Uint8Array | undefined
  /** Of this client, to its `cert`. */
  readonly key?: string | Uint8Array | undefined
  /** Of the `key`. */
  readonly passphrase?: string | undefined
  /** Whose certificate the server must have. Default: the host's. */
  readonly servername?: string | undefined
  /** `false` believes whoever answers, so that anybody in between can read and change everything. Default true. */
  readonly rejectUnauthorized?: boolean | undefined
}

/** What a file may say besides. */
export interface FullTlsOptions extends TlsOptions {
  readonly pfx?: Uint8Array
  readonly checkServerIdentity?: () => undefined
  readonly minVersion?: TlsVersion | undefined
  readonly maxVersion?: TlsVersion | undefined
  readonly ciphers?: string
}

export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'

type Handler = (...args: never[]) => void
type Word = string | number | Uint8Array

/** What is used of an ioredis client, ours or the caller's, of this major or the one before. */
export interface IoredisClient {
  readonly status: string
  readonly isCluster?: boolean
  readonly options?: {
    readonly keyPrefix?: unknown
    readonly db?: number
    connectTimeout?: number
    readonly sentinels?: readonly unknown[] | null
    readonly host?: string
    readonly port?: number
    readonly readOnly?: boolean
    readonly Connector?: unknown
    readonly enableAutoPipelining?: boolean
  }
  /** Of a cluster, by slot: its master, then its replicas. */
  readonly slots?: readonly (readonly string[] | undefined)[]
  /** The socket, while there is one; not of a cluster. */
  readonly stream?: {
    readonly remoteAddress?: string | undefined
    readonly remotePort?: number | undefined
    readonly bytesRead: number
    destroy(error?: Error): unknown
    cork(): void
    uncork(): void
  } | null
  connect(): Promise<unknown>
  disconnect(reconnect?: boolean): void
  duplicate(...overrides: unknown[]): IoredisClient
  call(name: string, ...args: Word[]): Promise<unknown>
  callBuffer(name: string, ...args: Word[]): Promise<unknown>
  /** `stream` and `node`: of a cluster. */
  sendCommand(command: unknown, stream?: undefined, node?: { readonly slot?: number }): Promise<unknown>
  /** Of a cluster. */
  nodes?(role: 'master' | 'all'): IoredisClient[]
  readonly subscriber?: { getInstance(): IoredisClient | null }
  /** Of a cluster: the connections that bring sharded messages, by node. */
  readonly shardedSubscribers?: {
    readonly shardedSubscribers?: ReadonlyMap<string, { getInstance(): IoredisClient | null }>
  }
  /** What is to be answered; not of a cluster. */
  readonly commandQueue?: { readonly length: number }
  /** Not of a cluster: the database that it believes to have selected. */
  readonly condition?: { readonly select?: number } | null
  ping(): Promise<unknown>
  subscribe(...channels: string[]): Promise<unknown>
  unsubscribe(...channels: string[]): Promise<unknown>
  ssubscribe(...channels: string[]): Promise<unknown>
  sunsubscribe(...channels: string[]): Promise<unknown>
  psubscribe(...patterns: string[]): Promise<unknown>
  punsubscribe(...patterns: string[]): Promise<unknown>
  on(event: string, handler: Handler): unknown
  off(event: string, handler: Handler): unknown
}

export interface NodeRedisNode {
  readonly address: string
  /** While it is connected to. */
  readonly client?: NodeRedisClient | undefined
}

/** What is used of a node-redis client (5 or 6), made by createClient, createSentinel or createCluster. */
export interface NodeRedisClient {
  readonly isOpen: boolean
  readonly isReady?: boolean
  readonly options?: { readonly keyPrefix?: unknown; readonly socket?: object }
  /** Only by sentinels. */
  readonly getSentinelNode?: () => unknown
  /** Only by sentinels: lends a connection of the pool, all who are there at one time the same. What its commands are made of. */
  _execute?<T>(readOnly: boolean, use: (master: NodeRedisClient) => Promise<T>): Promise<T>
  /** Only of a cluster. */
  readonly slots?: readonly ({ readonly master: NodeRedisNode } | undefined)[]
  readonly masters?: readonly NodeRedisNode[]
  readonly replicas?: readonly NodeRedisNode[]
  nodeClient?(node: NodeRedisNode): Promise<NodeRedisClient>
  /** Only of a cluster: asks this node who has which slots. */
  readonly _slots?: { rediscover(ask: NodeRedisClient): Promise<void> }
  /** Each of the three has a form of its own. */
  sendCommand(...args: unknown[]): Promise<never>
  /** Not of a sentinel's of version 5. */
  duplicate?(overrides?: object): NodeRedisClient
  connect(): Promise<unknown>
  destroy(): unknown
  readonly subscribe: NodeRedisListen
  readonly unsubscribe: NodeRedisListen
  readonly sSubscribe: NodeRedisListen
  readonly sUnsubscribe: NodeRedisListen
  readonly pSubscribe: NodeRedisListen
  readonly pUnsubscribe: NodeRedisListen
  on(event: string, handler: (what: unknown) => void): unknown
  off(event: string, handler: (what: unknown) => void): unknown
}

/** With `bytes`, messages and channels come as they are. */
type NodeRedisListen = (
  name: string,
  listener: (payload: Uint8Array, channel: Uint8Array) => void,
  bytes: true,
) => Promise<void>

/** What is used of a client of Valkey GLIDE (2.3 or newer), for one server. */
export interface GlideClient {
  /** Private in its types; a second client like it cannot be made without. */
  readonly config: { readonly inflightRequestsLimit?: number | undefined; readonly databaseId?: number | undefined }
  readonly constructor: { createClient(config: object): Promise<GlideClient> }
  readonly isClosed: boolean
  customCommand(words: (string | Uint8Array)[], options: { decoder: number }): Promise<unknown>
  readonly subscribe: GlideListen
  readonly unsubscribe: GlideListen
  readonly psubscribe: GlideListen
  readonly punsubscribe: GlideListen
  close(): void
}

type GlideListen = (names: readonly string[], timeout: number) => Promise<void>

export interface GlideMessage {
  readonly message: string | Uint8Array
  readonly channel: string | Uint8Array
  readonly pattern?: string | Uint8Array | null
}
