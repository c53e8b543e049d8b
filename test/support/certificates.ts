import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** PEM, and the files that it is in. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly files: { readonly cert: string; readonly key: string }
}

export interface Authority extends Certificate {
  /** Vouches for somebody at this machine. */
  issue(name: string): Certificate
  /** Removes the files. */
  dispose(): void
}

/** One that nobody knows, for the time of a test. */
export const makeAuthority = (name: string): Authority => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-tls-'))
  const make = (who: string, args: readonly string[]): Certificate => {
    const files = { cert: join(directory, `${who}.crt`), key: join(directory, `${who}.key`) }
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', files.key]
    execFileSync(
      'openssl',
      ['req', '-x509', ...key, '-out', files.cert, '-days', '2', '-subj', `/CN=${who}`, ...args],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    return { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8'), files }
  }
  const self = make(name, [])
  return {
    ...self,
    issue: (who) =>
      make(who, [
        ...['-CA', self.files.cert, '-CAkey', self.files.key],
        ...['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
      ]),
    dispose() {
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
