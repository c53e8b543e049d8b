export interface NodeRedisNode {
  readonly address: string
  /** Only while the node is connected. */
  readonly client?: NodeRedisClient | undefined
}

/** The parts of a node-redis client (5 or 6) that holdfast uses, made by createClient, createSentinel or createCluster. */
export interface NodeRedisClient {
  readonly isOpen: boolean
  readonly isReady?: boolean
  readonly options?: { readonly keyPrefix?: unknown; readonly socket?: object }
  /** Only with sentinels. */
  readonly getSentinelNode?: () => unknown
  /**
   * Only with sentinels: lends a connection of the pool; all calls at the same time share it. The client's commands are built on
   * this.
   */
  _execute?<T>(readOnly: boolean, use: (master: NodeRedisClient) => Promise<T>): Promise<T>
  /** Only in a cluster. */
  readonly slots?: readonly ({ readonly master: NodeRedisNode } | undefined)[]
  readonly masters?: readonly NodeRedisNode[]
  readonly replicas?: readonly NodeRedisNode[]
  nodeClient?(node: NodeRedisNode): Promise<NodeRedisClient>
  /** Only in a cluster: asks this node for the slot table. */
  readonly _slots?: { rediscover(ask: NodeRedisClient): Promise<void> }
  /** The three kinds of client take different arguments. */
  sendCommand(...args: unknown[]): Promise<never>
  /** Missing in a sentinel client of version 5. */
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

/** With `bytes`, messages and channels are passed as bytes. */
type NodeRedisListen = (
  name: string,
  listener: (payload: Uint8Array, channel: Uint8Array) => void,
  bytes: true,
) => Promise<void>
