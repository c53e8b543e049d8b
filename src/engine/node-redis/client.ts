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
