type Handler = (...args: never[]) => void
type Word = string | number | Uint8Array

/** The parts of an ioredis client that holdfast uses: its own client, or the caller's, of this major version or the one before. */
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
  /** In a cluster, by slot: its master, then its replicas. */
  readonly slots?: readonly (readonly string[] | undefined)[]
  /** The socket, if there is one; not in a cluster. */
  readonly stream?: {
    readonly remoteAddress?: string | undefined
    readonly remotePort?: number | undefined
    readonly bytesRead: number
    destroy(error?: Error): unknown
    cork(): void
    uncork(): void
    once(event: 'close', listener: () => void): unknown
    on(event: 'data', listener: (bytes: Uint8Array) => void): unknown
    off(event: 'data', listener: (bytes: Uint8Array) => void): unknown
  } | null
  connect(): Promise<unknown>
  disconnect(reconnect?: boolean): void
  duplicate(...overrides: unknown[]): IoredisClient
  call(name: string, ...args: Word[]): Promise<unknown>
  callBuffer(name: string, ...args: Word[]): Promise<unknown>
  /** `stream` and `node`: only in a cluster. */
  sendCommand(command: unknown, stream?: undefined, node?: { readonly slot?: number }): Promise<unknown>
  /** Only in a cluster. */
  nodes?(role: 'master' | 'all'): IoredisClient[]
  readonly subscriber?: { getInstance(): IoredisClient | null }
  /** In a cluster: the connections for sharded messages, by node. */
  readonly shardedSubscribers?: {
    readonly shardedSubscribers?: ReadonlyMap<string, { getInstance(): IoredisClient | null }>
  }
  /** The commands without an answer; not in a cluster. */
  readonly commandQueue?: { readonly length: number }
  /** The database that ioredis believes it has selected; not in a cluster. */
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
