import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { told, written } from '../../config/files.js'

const MAIN = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url))
const SECRET = 'c4nary-5ecret'

const holdfast = async (...args: string[]): Promise<{ code: number | null; out: string; error: string }> => {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, SECRET },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  assert.ok(!`${out}${error}`.includes(SECRET), 'a password is shown')
  return { code, out: told(out), error: told(error) }
}

const FILE = [
  'sentinelServersConfig:',
  '  sentinelAddresses: ["redis://10.0.0.1:26379"]',
  '  masterName: main',
  '  sentinelPassword: ${SECRET}',
  '  database: 2',
  'username: app',
  'password: ${SECRET}',
  'threads: 16',
  'nameMapper: !<com.example.AppNames> {}',
].join('\n')

void describe('holdfast config check', () => {
  test('what would be used, what would not, what is unsafe; no secret', async () => {
    const { code, out, error } = await holdfast('config', 'check', written('check.yml', FILE))
    assert.equal(error, '')
    assert.equal(code, 0)
    assert.match(out, /^check\.yml can be used:\n {2}server +redis\+sentinel:\/\/10\.0\.0\.1:26379\/main\n/)
    for (const line of [/ {2}database +2\n/, / {2}username +app\n/, / {2}password +•+\n/, / {2}sentinelPassword +•+\n/])
      assert.match(out, line)
    assert.match(out, / {2}nameMapper +com\.example\.AppNames, from nameMappers in the program\n/)
    assert.match(out, /check\.yml:8:1: threads is not used/)
    assert.match(out, /Unsafe:\n {2}no TLS: anybody on the network path can read and change all traffic/)
  })

  test('the word for a key → masked; told where it is written in a file that everybody can read', async () => {
    const pem = written('client.pem', '-----BEGIN ')
    const content = (word: string): string =>
      `singleServerConfig: {address: "rediss://127.0.0.1:1"}\nsslKeystore: ${pem}\nsslKeystorePassword: "${word}"\n`
    const { out } = await holdfast('config', 'check', written('key.yml', content('${SECRET}')))
    assert.match(
      out,
      / {2}tls +the server is checked, and the client sends a certificate\n {2}sslKeystorePassword +•+\n/,
    )
    assert.doesNotMatch(out, /Unsafe/)
    const open = written('key.yml', content(SECRET))
    chmodSync(open, 0o644)
    for (const form of [[], ['--json']])
      assert.match(
        (await holdfast('config', 'check', open, ...form)).out,
        /key\.yml contains a password, and every user/,
      )
  })

  test('--json → the same for programs; --strict → 1 where something is unsafe', async () => {
    const file = written('check.yml', FILE)
    const { code, out } = await holdfast('config', 'check', file, '--json', '--strict')
    const report = JSON.parse(out) as Record<string, unknown>
    assert.equal(code, 1)
    assert.deepEqual(Object.keys(report), ['used', 'unused', 'unsafe'])
    assert.equal((report['used'] as { watchdog: number }).watchdog, 30_000)
    const safe = written('safe.yml', 'singleServerConfig:\n  address: redis://127.0.0.1:6379\n')
    assert.equal((await holdfast('config', 'check', safe, '--strict')).code, 0)
  })

  test('each danger → told', async () => {
    const dangers: [string, RegExp][] = [
      [
        'singleServerConfig: {address: "rediss://h:1"}\nsslVerificationMode: NONE',
        /NONE: anybody on the network path can pretend/,
      ],
      ['singleServerConfig: {address: "rediss://h:1"}\nsslVerificationMode: CA_ONLY', /CA_ONLY: any server/],
      ['singleServerConfig: {address: "redis://h:1"}', /no password: /],
      [
        'singleServerConfig: {address: "redis://127.0.0.1:1"}\ncheckLockSyncedSlaves: false',
        /after a failover, two clients may hold the same lock/,
      ],
      [
        `singleServerConfig: {address: "redis://127.0.0.1:1", password: "${SECRET}"}`,
        /danger\.yml contains a password, and every user/,
      ],
    ]
    for (const [content, expected] of dangers) {
      const file = written('danger.yml', content)
      chmodSync(file, 0o644)
      assert.match((await holdfast('config', 'check', file)).out, expected)
    }
  })

  test('a file that cannot be used → 1, and its mistake', async () => {
    const file = written('broken.yml', `singleServerConfig:\n  address: ${SECRET}\n`)
    const { code, out, error } = await holdfast('config', 'check', file)
    assert.deepEqual([code, out], [1, ''])
    assert.match(error, /^holdfast: broken\.yml:2:12: address must be of the form redis:\/\/host:port/)
    assert.equal((await holdfast('config', 'check', '/nowhere.yml')).code, 1)
  })

  test('another word, no file, too many → 64, and how it goes', async () => {
    for (const args of [[], ['check'], ['show', 'x'], ['check', 'a', 'b'], ['check', 'a', '--bogus']])
      assert.equal((await holdfast('config', ...args)).code, 64, args.join(' '))
    assert.match((await holdfast('config', '--help')).out, /^Usage: holdfast config check FILE/)
  })
})
