import type { Authority, Certificate } from './certificates.js'
import { makeAuthority } from './certificates.js'
import type { RedisServer } from './redis-server.js'
import { freePort, startRedis } from './redis-server.js'

export interface TlsServer {
  readonly server: RedisServer
  readonly port: number
  readonly authority: Authority
  /** Whom the server lets in. */
  readonly client: Certificate
  stop(): Promise<void>
}

/** It asks its clients for a certificate, too; on a second port it speaks without TLS. */
export const startTlsServer = async (args: readonly string[] = []): Promise<TlsServer> => {
  const authority = makeAuthority('authority')
  const { cert, key } = authority.issue('server').files
  const port = await freePort()
  try {
    const server = await startRedis([
      ...['--tls-port', String(port), '--tls-auth-clients', 'yes', '--tls-ca-cert-file', authority.files.cert],
      ...['--tls-cert-file', cert, '--tls-key-file', key],
      ...args,
    ])
    const stop = async (): Promise<void> => {
      await server.stop()
      authority.dispose()
    }
    return { server, port, authority, client: authority.issue('client'), stop }
  } catch (error) {
    authority.dispose()
    throw error
  }
}
