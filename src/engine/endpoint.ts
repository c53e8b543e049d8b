/** Where to connect: the contents of a URL, with every default filled in. */
export interface Endpoint {
  /** To show to people: without user and password. */
  readonly address: string
  readonly nodes: readonly Node[]
  /** For `sentinel`, the nodes are the sentinels. For `replicated`, they are a master and its replicas, in any order. */
  readonly topology: 'single' | 'sentinel' | 'replicated' | 'cluster'
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly database?: number | undefined
  /** The name under which the sentinels watch the servers. */
  readonly master?: string | undefined
  readonly sentinelUsername?: string | undefined
  readonly sentinelPassword?: string | undefined
  /** `false`: sentinels that other sentinels report are not asked. */
  readonly sentinelsDiscovery?: boolean | undefined
  readonly tls: boolean
  /** The name for CLIENT SETNAME. */
  readonly clientName?: string | undefined
  /** ms until the first probe; `false`: no probes. */
  readonly keepAlive?: number | false | undefined
  readonly noDelay?: boolean | undefined
  readonly natMap?: NatMap | undefined
}

/** Maps an address `host:port` that servers report to each other to the address that this client must use. */
export type NatMap = (address: string) => { host: string; port: number } | null

export type Node = { readonly host: string; readonly port: number } | { readonly path: string }

/** The settings of `node:tls`, besides the host and the port. Certificates and keys are PEM, as text or bytes. */
export interface TlsOptions {
  /** The only certificate authorities to trust. Default: those that Node trusts. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined
  /** The certificate of this client, with its `key`, if the server asks for one. Default: none. */
  readonly cert?: string | Uint8Array | undefined
  /** The private key of this client's `cert`. Default: none. */
  readonly key?: string | Uint8Array | undefined
  /** The passphrase of the `key`. Default: none. */
  readonly passphrase?: string | undefined
  /** The host name that the server's certificate must have. Default: the host. */
  readonly servername?: string | undefined
  /** With `false`, any server is accepted, so anybody in between can read and change everything. Default true. */
  readonly rejectUnauthorized?: boolean | undefined
}

/** Further settings that only a file can have. */
export interface FullTlsOptions extends TlsOptions {
  readonly pfx?: Uint8Array
  readonly checkServerIdentity?: () => undefined
  readonly minVersion?: TlsVersion | undefined
  readonly maxVersion?: TlsVersion | undefined
  readonly ciphers?: string
}

export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'
