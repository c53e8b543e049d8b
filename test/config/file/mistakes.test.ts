import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { seeded } from '../../support/random.js'
import { everyField, read, told } from '../files.js'

const single = (more: string): string => `singleServerConfig:\n  address: redis://h:1\n${more}`

const MISTAKES: readonly (readonly [name: string, text: string, expected: RegExp])[] = [
  ['an empty file', '', /redisson\.yml is empty/],
  ['no map', '- a\n- b\n', /:1:1: fields are expected here/],
  ['no section', 'threads: 1\n', /:1:1: no servers are named: set one of singleServerConfig/],
  ['a section without fields', 'singleServerConfig: yes\n', /:1:21: singleServerConfig must contain fields/],
  ['no address', 'singleServerConfig:\n  timeout: 1\n', /:1:1: address is missing: redis:\/\/host:port/],
  [
    'an address without a port',
    'singleServerConfig:\n  address: redis://h\n',
    /:2:12: address must be of the form redis:\/\/host:port/,
  ],
  ['an address without a scheme', 'singleServerConfig:\n  address: h:1\n', /:2:12: address must be of the form/],
  [
    'a port that is none',
    'singleServerConfig:\n  address: redis://h:99999\n',
    /2:12: address must be of the form|port/,
  ],
  [
    'several addresses for one server',
    'singleServerConfig:\n  address: [redis://a:1, redis://b:1]\n',
    /:2:3: address must name exactly one server/,
  ],
  [
    'TLS for some',
    'clusterServersConfig:\n  nodeAddresses: [redis://a:1, rediss://b:1]\n',
    /:2:3: nodeAddresses must use TLS \(rediss:\) for all/,
  ],
  [
    'a socket of a cluster',
    'clusterServersConfig:\n  nodeAddresses: [redis+uds:///a]\n',
    /:2:3: only a single server can have a socket/,
  ],
  ['no addresses', 'clusterServersConfig:\n  nodeAddresses: []\n', /:2:3: nodeAddresses must name a server/],
  ['no master', 'sentinelServersConfig:\n  sentinelAddresses: [redis://a:1]\n', /:1:1: masterName is missing/],
  [
    'a database of a cluster',
    'clusterServersConfig:\n  nodeAddresses: [redis://a:1]\n  database: 1\n',
    /:3:3: a cluster has only database 0/,
  ],
  [
    'a number that is none',
    single('  timeout: soon\n'),
    /:3:3: timeout must be a whole number of milliseconds, 1 or more/,
  ],
  ['a number that is too large', single('  timeout: 2147483648\n'), /:3:3: timeout must be .*, at most 2147483647/],
  ['a number that is too small', single('  timeout: 0\n'), /:3:3: timeout must be a whole number/],
  [
    'a flag that is none',
    single('checkLockSyncedSlaves: maybe\n'),
    /:3:1: checkLockSyncedSlaves must be true or false/,
  ],
  ['a list for a text', single('  clientName: [a]\n'), /:3:15: clientName must be text/],
  [
    'a word of another set',
    'singleServerConfig:\n  address: rediss://h:1\nsslVerificationMode: SOME\n',
    /:3:1: sslVerificationMode must be one of NONE, CA_ONLY, STRICT/,
  ],
  [
    'an encrypted password',
    single('  password: "{aes}AuWm"\n'),
    /:3:3: password is encrypted by Redisson PRO, which holdfast cannot decrypt: take it from the environment/,
  ],
  [
    'a resolver of credentials alone',
    single('credentialsResolver: !<com.example.Vault> {}\n'),
    /:3:1: credentialsResolver cannot be used: it is Java code: give username and password/,
  ],
  ['not YAML', 'singleServerConfig:\n  address: redis://h:1\n password: @x\n', /:3:1: this is not YAML/],
  ['a field that is there twice', single('  timeout: 1\n  timeout: 2\n'), /:4:3: this is not YAML \(duplicate key\)/],
  ['JSON cut off', '{"singleServerConfig": {"address": "redis://h:1"', /this is not YAML/],
  ['what holds itself', 'singleServerConfig: &a\n  address: redis://h:1\n  natMap: *a\n', /this contains itself/],
  [
    'a file of TLS that is not there',
    'singleServerConfig:\n  address: rediss://h:1\nsslTruststore: file:none.pem\n',
    /:3:1: the file of sslTruststore cannot be read \(ENOENT\)/,
  ],
  [
    'a version of TLS that is none',
    'singleServerConfig:\n  address: rediss://h:1\nsslProtocols: [TLSv9]\n',
    /:3:16: sslProtocols may contain only TLSv1,/,
  ],
  [
    'a cipher that is none',
    'singleServerConfig:\n  address: rediss://h:1\nsslCiphers: [ROT13]\n',
    /:3:14: sslCiphers has a cipher that Node\.js does not know/,
  ],
]

void describe('a mistake in a file → an error with file, line, column and what to do', () => {
  for (const [name, text, expected] of MISTAKES) {
    test(name, () => assert.rejects(read(text), { name: 'ConfigError', code: 'CONFIG', message: expected }))
  }
})

void describe('a field that is told', () => {
  const telling = async (more: string): Promise<string[]> => (await read(single(more))).warnings.map(told)

  test('unknown', async () => {
    assert.deepEqual(await telling('bogus: 1\n'), [
      'redisson.yml:3:1: bogus is not a field that Redisson knows here: it is not used',
    ])
  })

  test('in the wrong place, which may be a matter of indentation', async () => {
    assert.deepEqual(await telling('  threads: 1\ntimeout: 1\n'), [
      'redisson.yml:3:3: threads is not used: it belongs at the top level, beside the section',
      'redisson.yml:4:1: timeout is not used: it belongs in the section of the servers',
    ])
  })

  test('a value that is what is done anyway → not told', async () => {
    assert.deepEqual(
      await telling('keepPubSubOrder: true\nuseScriptCache: true\nlazyInitialization: false\nthreads: null\n'),
      [],
    )
    assert.equal((await telling('useScriptCache: false\n')).length, 1)
  })

  test('credentials by a resolver, beside a password', async () => {
    const told = await telling('password: p\ncredentialsResolver: !<com.example.Vault> {}\n')
    assert.deepEqual(told, [
      'redisson.yml:4:1: credentialsResolver is not used: it is Java code, and there is a password',
    ])
  })
})

/** No error and no warning shows a value of the file, however wrong the file is. */
void test('a file with a secret, mangled in 3000 ways → never shown', async () => {
  const secret = 'c4nary-5ecret'
  const random = seeded(7)
  const sections = ['singleServerConfig', 'sentinelServersConfig', 'clusterServersConfig']
  const files = sections.map((section) =>
    everyField(section, true)
      .text.replaceAll(/: (secret|watched|orders|app)$/gm, `: ${secret}`)
      .replaceAll('redis://127', `redis://user:${secret}@127`),
  )
  const below = (limit: number): number => Math.floor(random() * limit)
  let refused = 0
  for (let round = 0; round < 3000; round += 1) {
    let text = files[round % files.length] ?? ''
    for (let cuts = 1 + below(3); cuts > 0; cuts -= 1) {
      const at = random() < 0.5 ? text.indexOf(secret, below(text.length)) - 3 + below(20) : below(text.length)
      const noise = ['', ' ', '\n', ':', '"', '{', '*', '&', '!', '${', '@', '\t', '- '][below(13)] ?? ''
      text = text.slice(0, at) + noise + text.slice(at + below(4))
    }
    const said = await read(text).then(
      ({ warnings }) => warnings.join('\n'),
      (error: unknown) => {
        refused += 1
        const { name, message, stack, cause } = error as Error
        assert.equal(name, 'ConfigError', `${String(stack)}\n${text}`)
        return `${message} ${String(stack)} ${String(cause)}`
      },
    )
    // What is left of it after a cut may be shown no more than the whole.
    for (const part of [secret, '5ecret', 'c4nary']) assert.ok(!said.includes(part), `${said}\n---\n${text}`)
  }
  assert.ok(refused > 100, `only ${refused} were refused`)
})
