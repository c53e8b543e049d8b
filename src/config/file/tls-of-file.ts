import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getCiphers } from 'node:tls'
import type { FullTlsOptions } from '../../engine/endpoint.js'
import { wrong } from './yaml-tree.js'
import type { Values } from './field-values.js'
import { codeOf } from '../../thrown.js'

const VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const

/** `beside`: the file that names the stores. */
export const tlsIn = (values: Values, beside: string): FullTlsOptions => ({
  ...verification(values),
  ...trust(values, beside),
  ...key(values, beside),
  ...versions(values),
  ...ciphers(values),
})

const verification = (values: Values): FullTlsOptions => {
  const old = values.flag('sslEnableEndpointIdentification')
  const mode = values.choice('sslVerificationMode', ['NONE', 'CA_ONLY', 'STRICT'])
  if (mode === 'NONE' || (mode === undefined && old === false)) return { rejectUnauthorized: false }
  return mode === 'CA_ONLY' ? { checkServerIdentity: () => undefined } : {}
}

const trust = (values: Values, beside: string): FullTlsOptions => {
  const store = storeIn(values, 'sslTruststore', beside)
  if (store === undefined) return {}
  if (isPem(store.data)) return { ca: store.data }
  throw wrong(
    values.at('sslTruststore'),
    `sslTruststore must be PEM; to convert it: keytool -list -rfc -keystore FILE > truststore.pem`,
  )
}

const key = (values: Values, beside: string): FullTlsOptions => {
  const passphrase = values.secret('sslKeystorePassword')
  const store = storeIn(values, 'sslKeystore', beside)
  if (store === undefined) return {}
  const words = passphrase === undefined ? {} : { passphrase }
  if (isPem(store.data)) return { cert: store.data, key: store.data, ...words }
  // PKCS#12 starts as an ASN.1 sequence; JKS starts with a number of its own.
  if (store.data[0] === 0x30) return { pfx: store.data, ...words }
  throw wrong(
    values.at('sslKeystore'),
    'sslKeystore must be PKCS#12 or PEM; to convert it: keytool -importkeystore -srckeystore FILE -destkeystore keystore.p12 -deststoretype pkcs12',
  )
}

const storeIn = (values: Values, name: string, beside: string): { readonly data: Buffer } | undefined => {
  const text = values.text(name)
  if (text === undefined) return undefined
  try {
    return { data: readFileSync(pathOf(text, beside)) }
  } catch (error) {
    const code = codeOf(error) ?? 'no such file'
    throw wrong(values.at(name), `the file of ${name} cannot be read (${code}); its path is relative to this file`)
  }
}

/** Redisson accepts a URL there, and Spring its `classpath:`, which here means the file's folder. */
export const pathOf = (text: string, beside: string): string => {
  if (text.startsWith('file://')) return fileURLToPath(text)
  const inClasses = /^classpath\*?:\/?(.+)/.exec(text)?.[1]
  return resolve(dirname(beside), inClasses ?? text.replace(/^file:/, ''))
}

const isPem = (data: Buffer): boolean => data.includes('-----BEGIN ')

const versions = (values: Values): FullTlsOptions => {
  const names = values.list('sslProtocols').map(({ at, text }) => {
    const version = VERSIONS.indexOf(text as (typeof VERSIONS)[number])
    if (version === -1) throw wrong(at, `sslProtocols may contain only ${VERSIONS.join(', ')}`)
    return version
  })
  if (names.length === 0) return {}
  return { minVersion: VERSIONS[Math.min(...names)], maxVersion: VERSIONS[Math.max(...names)] }
}

const ciphers = (values: Values): FullTlsOptions => {
  const names = values.list('sslCiphers')
  if (names.length === 0) return {}
  const known = new Set(getCiphers())
  return {
    ciphers: names
      .map(({ at, text }) => {
        const name = [text, opensslName(text)].find((one) => known.has(one.toLowerCase()))
        if (name === undefined)
          throw wrong(
            at,
            'sslCiphers has a cipher that Node.js does not know: node -p "tls.getCiphers()" lists those it knows',
          )
        return name
      })
      .join(':'),
  }
}

/** TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 → ECDHE-RSA-AES128-GCM-SHA256 */
const opensslName = (java: string): string =>
  java
    .replace(/^TLS_(RSA_WITH_)?/, '')
    .replace('_WITH_', '_')
    .replace(/AES_(\d+)_(CBC_)?/, 'AES$1_')
    .replace('CHACHA20_POLY1305_SHA256', 'CHACHA20_POLY1305')
    .replaceAll('_', '-')
