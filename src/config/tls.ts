import type { TlsOptions } from '../engine/endpoint.js'
import { ConfigError } from '../errors.js'
import { checkFlag, checkText, readOnce } from '../check-arguments.js'
import type { Place } from './url.js'
import { quoted } from '../plain-text.js'

const KNOWN: readonly (keyof TlsOptions)[] = ['ca', 'cert', 'key', 'passphrase', 'servername', 'rejectUnauthorized']

/** The value is never shown, because it may contain a key. */
export const tlsOf = (wanted: unknown, place: Place | undefined): TlsOptions => {
  if (wanted === undefined) return {}
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) {
    throw new TypeError(
      `tls must be { ${KNOWN.join(', ')} }, not ${Array.isArray(wanted) ? 'a list' : wanted === null ? 'null' : `a ${typeof wanted}`}`,
    )
  }
  const unknown = Object.keys(wanted).find((key) => !(KNOWN as readonly string[]).includes(key))
  if (unknown !== undefined) throw new TypeError(`tls has no ${quoted(unknown)}; it has ${KNOWN.join(', ')}`)
  if (place?.engine !== 'redis' || !place.endpoint.tls) {
    throw new ConfigError('tls needs a URL that begins with rediss:, valkeys: or rediss+…; this URL is not encrypted')
  }
  const read = readOnce(wanted as TlsOptions, KNOWN)
  // Each item of a list is read only once, too.
  const ca = Array.isArray(read.ca) ? Array.from(read.ca as string[]) : read.ca
  const { cert, key, passphrase, servername, rejectUnauthorized } = read
  for (const authority of Array.isArray(ca) ? (ca as unknown[]) : [ca]) checkPem(authority, 'tls.ca')
  checkPem(cert, 'tls.cert')
  checkPem(key, 'tls.key')
  if ((cert === undefined) !== (key === undefined)) {
    throw new ConfigError("pass tls.cert (the client's certificate) and tls.key (its key) together")
  }
  if (passphrase !== undefined && typeof passphrase !== 'string') throw new TypeError('tls.passphrase must be a string')
  if (servername !== undefined) checkText(servername, 'tls.servername')
  if (rejectUnauthorized !== undefined) checkFlag(rejectUnauthorized, 'tls.rejectUnauthorized')
  return { ...read, ...(ca !== undefined && { ca }) }
}

const checkPem = (value: unknown, what: string): void => {
  if (value === undefined || value instanceof Uint8Array) return
  if (typeof value !== 'string') throw new TypeError(`${what} must be text or bytes in PEM, not ${typeof value}`)
  // With a path, OpenSSL would throw an error that names nothing.
  if (!value.includes('-----BEGIN ')) throw new TypeError(`${what} must be the content of the PEM file, not its path`)
}
