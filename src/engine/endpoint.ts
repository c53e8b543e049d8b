/** Where to connect: what a URL says, with nothing left to guess. */
export interface Endpoint {
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
