/** Where to connect: what a URL says, with nothing left to guess. */
export interface Target {
  /** For people: no user, no password. */
  readonly address: string
  readonly nodes: readonly Node[]
  /** Of `sentinel`, the nodes are the sentinels. */
  readonly topology: 'single' | 'sentinel' | 'cluster'
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly database?: number | undefined
  /** What the sentinels call the servers that they watch. */
  readonly master?: string | undefined
  readonly sentinelPassword?: string | undefined
  readonly tls: boolean
}

export type Node = { readonly host: string; readonly port: number } | { readonly path: string }

type Handler = (...args: never[]) => void
type Word = string | number | Uint8Array

/** What is used of an ioredis client, ours or the caller's, of this major or the one before. */
export interface IoredisClient {
  readonly status: string
  readonly isCluster?: boolean
  readonly options?: { readonly keyPrefix?: unknown; readonly sentinels?: readonly unknown[] | null }
  /** Of a cluster, by slot: its master, then its replicas. */
  readonly slots?: readonly (readonly string[] | undefined)[]
  /** The socket, while there is one; not of a cluster. */
  readonly stream?: { cork(): void; uncork(): void } | null
  connect(): Promise<unknown>
  disconnect(reconnect?: boolean): void
  duplicate(...overrides: unknown[]): IoredisClient
  call(name: string, ...args: Word[]): Promise<unknown>
  callBuffer(name: string, ...args: Word[]): Promise<unknown>
  /** Of a cluster. */
  nodes?(role: 'master' | 'all'): IoredisClient[]
  readonly subscriber?: { getInstance(): IoredisClient | null }
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
}

/** What is used of a node-redis client (5 or 6), made by createClient, createSentinel or createCluster. */
export interface NodeRedisClient {
  readonly isOpen: boolean
  readonly isReady?: boolean
  readonly options?: { readonly keyPrefix?: unknown; readonly socket?: object }
  /** Only by sentinels. */
  readonly getSentinelNode?: () => unknown
  /** Only of a cluster. */
  readonly slots?: readonly ({ readonly master: NodeRedisNode } | undefined)[]
  readonly masters?: readonly NodeRedisNode[]
  readonly replicas?: readonly NodeRedisNode[]
  nodeClient?(node: NodeRedisNode): Promise<NodeRedisClient>
  /** Each of the three has a form of its own. */
  sendCommand(...args: unknown[]): Promise<never>
  /** Not of a sentinel's of version 5, which has its own connection for messages. */
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
