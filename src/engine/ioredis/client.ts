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
