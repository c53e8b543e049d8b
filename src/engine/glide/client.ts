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
