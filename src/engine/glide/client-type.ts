/** The parts of a Valkey GLIDE client (2.3 or newer, for one server) that holdfast uses. */
export interface GlideClient {
  /** Private in GLIDE's types, but needed to make a second client like it. */
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
